import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { openWorld } from '../test/world.ts';

const world = await openWorld();
const owner = await world.owner();
const { body: overview } = await owner.get('/v1/overview');
const [wiki] = overview.wikis;
const home = `/${overview.session.organizations[0].slug}/${wiki.slug}`;
const { body: page } = await owner.post(`/v1/wikis/${wiki.wiki_id}/pages`, {
  title: 'Engine',
  markdown: `${'It turns the crank of the engine.\n\n'.repeat(20)}## Cards\n\nPunch them.`,
});

/** The service behind a line on which a document comes in pieces that end anywhere. */
const line = createServer((request, response) => void pass(request, response));
line.listen(0, '127.0.0.1');
await once(line, 'listening');
after(() => line.close());
const address = `http://127.0.0.1:${(line.address() as AddressInfo).port}`;

async function pass({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await fetch(`${world.address}${url}`, {
    headers: { accept: headers.accept ?? '*/*', cookie: headers.cookie ?? '' },
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get('content-type') ?? '';
  response.writeHead(answer.status, { 'content-type': type });
  const size = type.startsWith('text/html') ? 150 : body.length;
  for (let from = 0; from < body.length; from += size) {
    response.write(body.subarray(from, from + size));
    if (size < body.length) await sleep(20);
  }
  response.end();
}

/** What was moved since the document was opened: elements and where they were; runs in the browser. */
const LAYOUT_SHIFTS = `new Promise((resolve) => {
  const moved = [];
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries())
      moved.push(...sources.map(({ node, previousRect: { x, y }, currentRect: to }) =>
        (node?.className || node?.nodeName) + ' from ' + [x, y] + ' to ' + [to.x, to.y]));
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(moved), 100));
})`;

async function shiftsOf(page: Page, path: string): Promise<unknown> {
  await page.goto(`${address}${path}`);
  await page.locator('html.scripted').waitFor();
  await page.waitForLoadState('networkidle');
  return page.evaluate(LAYOUT_SHIFTS);
}

test('nothing moves while a page comes in pieces', { skip }, async (t) => {
  const context = await openBrowserFor(world, owner.user_id);
  const tab = await context.newPage();
  for (const width of [1_440, 390]) {
    await t.test(`at ${width} px`, async () => {
      await tab.setViewportSize({ width, height: 900 });
      assert.deepEqual(await shiftsOf(tab, `${home}/${page.path}`), []);
    });
  }
  await t.test('in the profile', async () => assert.deepEqual(await shiftsOf(tab, '/me'), []));
  await context.close();
});
