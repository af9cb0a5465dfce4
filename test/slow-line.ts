import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { cleanUp } from './clean-up.ts';

/** A document arrives in pieces that end anywhere. */
const PIECES = 25;
const BETWEEN_MS = 10;
/** Scripts arrive after the document has been painted, and their requests are answered later still. */
const SCRIPT_MS = 300;
const ANSWER_MS = 100;

/**
 * Starts a proxy that delays pages of a service like a slow connection, until the tests of the file have ended. Returns
 * its address.
 */
export async function openSlowLine(service: string): Promise<string> {
  const line = createServer((request, response) => void pass(service, request, response));
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  cleanUp(() => line.close());
  return `http://127.0.0.1:${(line.address() as AddressInfo).port}`;
}

async function pass(service: string, asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = { ...asked.headers, host: new URL(service).host, 'accept-encoding': 'identity' };
  const passed = asked.pipe(request(`${service}${asked.url}`, { method: asked.method ?? 'GET', headers }));
  const [answer] = (await once(passed, 'response')) as [IncomingMessage];
  const body = await buffer(answer);
  const type = answer.headers['content-type'] ?? '';
  if (type.includes('javascript')) await sleep(SCRIPT_MS);
  if (type.includes('json')) await sleep(ANSWER_MS);
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  const size = type.startsWith('text/html') ? Math.ceil(body.length / PIECES) : Math.max(body.length, 1);
  for (let from = 0; from < body.length; from += size) {
    response.write(body.subarray(from, from + size));
    if (size < body.length) await sleep(BETWEEN_MS);
  }
  response.end();
}

/**
 * Returns the elements that have moved since the document was opened, with their old and new places. Runs in the
 * browser.
 */
const LAYOUT_SHIFTS = `new Promise((resolve) => {
  const moved = [];
  const placeOf = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries())
      moved.push(...sources.map(({ node, previousRect, currentRect }) => (node?.className || node?.nodeName) + ' in ' +
        node?.parentNode?.nodeName + ' from ' + placeOf(previousRect) + ' to ' + placeOf(currentRect)));
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(moved), 100));
})`;

/** Opens a page at a width, and returns the layout shifts until it has loaded completely. */
export async function shiftsIn(page: Page, address: string, width: number): Promise<unknown> {
  await page.setViewportSize({ width, height: 900 });
  await page.goto(address);
  await page.locator('html.scripted').waitFor();
  await page.waitForLoadState('networkidle');
  return page.evaluate(LAYOUT_SHIFTS);
}
