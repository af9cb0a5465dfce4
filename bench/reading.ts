import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { CHROMIUM } from '../test/browser.ts';
import { median } from './compare.ts';

/** What a reader's browser is asked for. */
export interface ReadingTargets {
  address: string;
  cookie: string;
  /** Pages of one wiki that the tree shows, by their paths. */
  paths: readonly string[];
  /** A page with many pages right below it, closed in the tree of the first of `paths`. */
  parent: string;
}

const WIDTHS = [1_440, 768, 390];
const LOADS = 7;
/** 1.6 Mbit/s with 150 ms to the service and back. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 };

/** Bytes, first paint, layout shifts, how long interactions take, and opening a long branch of the tree; prints a table. */
export async function measureReading(targets: ReadingTargets): Promise<void> {
  if (!CHROMIUM) return console.log('\nChromium is not installed, so no reader was measured');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    console.log(`\nReading in Chromium ${browser.version()}, medians of ${LOADS}`);
    await measureBytes(browser, targets);
    for (const width of WIDTHS) await measureLoad(browser, targets, width, false);
    await measureLoad(browser, targets, 1_440, true);
    await measureLoad(browser, targets, 390, true);
    await measureInteractions(browser, targets);
  } finally {
    await browser.close();
  }
}

async function openPage(browser: Browser, { cookie, address }: ReadingTargets, width: number) {
  const context: BrowserContext = await browser.newContext({ viewport: { width, height: 900 } });
  const [name = '', value = ''] = cookie.split('=');
  await context.addCookies([{ name, value, url: address }]);
  const page = await context.newPage();
  const session: CDPSession = await context.newCDPSession(page);
  await session.send('Network.enable');
  return { context, page, session };
}

/** Compressed bytes of a first visit, of the next page, and of the one before that is opened again. */
async function measureBytes(browser: Browser, targets: ReadingTargets): Promise<void> {
  const { context, page, session } = await openPage(browser, targets, 1_440);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  const taken = async (name: string, work: () => Promise<unknown>) => {
    bytes = 0;
    await work();
    await page.waitForLoadState('networkidle');
    console.log(`${name.padEnd(34)} ${(bytes / 1024).toFixed(1).padStart(7)} KB`);
  };
  const [first = '', second = ''] = targets.paths;
  const follow = (path: string) => async () => {
    await page.locator(`.tree a.leaf[href="${path}"]`).click();
    await page.waitForURL(`**${path}`);
  };
  await taken('first visit', () => page.goto(targets.address + first));
  await taken('next page', follow(second));
  await taken('a page that was read before', follow(first));
  await context.close();
}

async function measureLoad(browser: Browser, targets: ReadingTargets, width: number, isSlow: boolean): Promise<void> {
  const paints: number[] = [];
  const shifts: number[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    const { context, page, session } = await openPage(browser, targets, width);
    if (isSlow) {
      await session.send('Network.emulateNetworkConditions', SLOW);
      await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    }
    await page.goto(targets.address + (targets.paths[load % targets.paths.length] ?? ''));
    await page.waitForLoadState('networkidle');
    const { paint, shift } = await page.evaluate<{ paint: number; shift: number }>(READ_PAINT);
    paints.push(paint);
    shifts.push(shift);
    await context.close();
  }
  const name = `${width} px wide${isSlow ? ', slow line and CPU' : ''}`;
  console.log(
    `${name.padEnd(34)} FCP ${median(paints).toFixed(0).padStart(4)} ms, CLS ${Math.max(...shifts).toFixed(3)} at most`,
  );
}

/** The first contentful paint in ms, and the sum of the layout shifts; runs in the browser, as all such texts. */
const READ_PAINT = `new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
  const [entry] = performance.getEntriesByName('first-contentful-paint');
  setTimeout(() => resolve({ paint: entry?.startTime ?? NaN, shift }), 100);
})`;

/** The longest 5 % of clicks and keys, and the time until a branch of thousands shows its entries. */
async function measureInteractions(browser: Browser, targets: ReadingTargets): Promise<void> {
  const opened: number[] = [];
  for (let i = 0; i < LOADS; i += 1) {
    // What was open in a tree is kept in its tab.
    const { context, page } = await openPage(browser, targets, 1_440);
    await page.goto(targets.address + (targets.paths[0] ?? ''));
    opened.push(await page.evaluate<number>(openBranch(targets.parent)));
    await context.close();
  }
  console.log(`${'a branch of thousands in the tree'.padEnd(34)} open after ${median(opened).toFixed(0)} ms`);
  const { context, page } = await openPage(browser, targets, 1_440);
  const [first = '', ...others] = targets.paths;
  await page.goto(targets.address + first);
  await page.evaluate<number>(openBranch(targets.parent));
  await page.evaluate(WATCH_EVENTS);
  for (const path of [...others, first, ...others]) {
    await page.locator(`.tree a.leaf[href="${path}"]`).click();
    await page.waitForURL(`**${path}`);
    await page.keyboard.press('ArrowDown');
    await page.locator('.page-menu > summary').click();
    await page.keyboard.press('Escape');
  }
  const durations = (await page.evaluate('window.durations')) as number[];
  const sorted = durations.toSorted((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
  console.log(`${'clicks and keys'.padEnd(34)} INP p95 ${p95.toFixed(0)} ms (${sorted.length} took 16 ms or more)`);
  await scrollTree(page);
  await dragInTree(page);
  await context.close();
}

/** From the click to the frame after the entries are in the document. */
const openBranch = (path: string) => `new Promise((resolve) => {
  const item = document.querySelector('.tree a.leaf[href="${path}"]').closest('li');
  const start = performance.now();
  const look = () => {
    const isOpen = item.querySelectorAll(':scope > ul > li').length > 50;
    requestAnimationFrame(isOpen ? () => resolve(performance.now() - start) : look);
  };
  item.querySelector('.twist').click();
  look();
})`;

/** Keeps the durations of events of 16 ms or more. */
const WATCH_EVENTS = `{
  window.durations = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.durations.push(duration);
  }).observe({ type: 'event', durationThreshold: 16 });
}`;

const SCROLL_TREE = `(async () => {
  const panel = document.querySelector('.tree');
  const frames = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let last = await frame();
  for (let still = 0, seen = 0; still < 120; ) {
    panel.scrollTop += 400;
    const now = await frame();
    frames.push(now - last);
    last = now;
    still = panel.scrollTop === seen ? still + 1 : 0;
    seen = panel.scrollTop;
  }
  return { frames: frames.sort((a, b) => a - b), rows: panel.querySelectorAll('.leaf').length };
})()`;

/** Scrolls the tree through the long branch, whose parts are loaded meanwhile. */
async function scrollTree(page: Page): Promise<void> {
  const { frames, rows } = await page.evaluate<{ frames: number[]; rows: number }>(SCROLL_TREE);
  const at = (part: number) => (frames[Math.floor(frames.length * part)] ?? 0).toFixed(0);
  console.log(
    `${'scrolling through the tree'.padEnd(34)} ${rows} entries, frames p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`,
  );
}

const KEEP_FRAMES = `{
  window.frames = [];
  let last = performance.now();
  const frame = (now) => {
    window.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}`;
const DRAG_STEPS = 60;

/** Holds a row of the long branch over the others; the frames until each is drawn. It goes back to where it was. */
async function dragInTree(page: Page): Promise<void> {
  const row = page.locator('.tree ul.long > li .leaf:not([aria-current])').last();
  await row.scrollIntoViewIfNeeded();
  const { x = 0, y = 0 } = (await row.boundingBox()) ?? {};
  await page.mouse.move(x + 20, y + 8);
  await page.mouse.down();
  await page.evaluate(KEEP_FRAMES);
  for (let step = 0; step <= DRAG_STEPS; step += 1) await page.mouse.move(x + 20, y + 8 - step * 8);
  await page.mouse.move(x + 20, y + 8);
  await page.mouse.up();
  const frames = (await page.evaluate('window.frames')) as number[];
  const sorted = frames.toSorted((a, b) => a - b);
  const at = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(0);
  console.log(
    `${'dragging a row of the tree'.padEnd(34)} ${frames.length} frames, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`,
  );
}
