import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { CHROMIUM } from '../test/browser.ts';
import { text as textOf } from '../test/web-steps.ts';
import { median } from './compare.ts';
import { signIn } from './sign-in.ts';
import { startBench } from './start-bench.ts';

/**
 * Measures the editor in Chromium: what it loads, the main thread's time for a key in a small and in a large page, and
 * how long a large page takes to open relative to an empty one. `--profile` prints where the time of keys goes.
 */
const SIZES = { empty: 0, '10 KB': 10_000, '1 MB': 1_000_000 };
const KEYS = 60;
/** Between two keys of a fast typist. What is done after a pause is in the time of a later key. */
const PACE_MS = 100;
const OPENINGS = 5;
/** What the main thread does in a second in which nothing happens. */
const IDLE_MS = 20;
const PARTS = [
  'editor.js',
  'editor.css',
  'rich-text.js',
  'code-colours.js',
  'math.js',
  'conflict.js',
  'emoji-names.js',
  'properties.js',
  'draft-worker.js',
];

if (!CHROMIUM) throw new Error('Install Chromium (apt-get install chromium)');
const bench = await startBench();
let browser: Browser | undefined;
try {
  const { session, wikis } = await bench.api.get('/v1/overview');
  const root = `/${session.organizations[0].slug}/${wikis[0].slug}`;
  const [name = '', value = ''] = (await signIn(bench.dataDir, bench.service.address)).split('=');
  const { address } = bench.service;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  await context.addCookies([{ name, value, url: address }]);
  const addresses = new Map<string, string>();
  for (const [size, bytes] of Object.entries(SIZES)) {
    const page = { title: `A page of ${size}`, markdown: generateText(bytes) };
    const { path } = await bench.api.post(`/v1/wikis/${bench.wiki_id}/pages`, page);
    addresses.set(size, `${address}${root}/-/edit/${path}`);
  }
  const page = await context.newPage();
  await page.goto(addresses.get('empty') as string);
  await measureSizes(page);
  await measureOpening(page, addresses);
  for (const [size, url] of addresses) for (const place of ['Home', 'End']) await measureKeys(page, size, url, place);
} finally {
  await browser?.close();
  await bench.stop();
}

/** Sections with what texts have: paragraphs with marks, lists, a table, code, a formula. */
function generateText(bytes: number): string {
  const sections: string[] = ['First words.\n'];
  for (let i = 1, size = 0; size < bytes; i += 1) {
    const words = `The **loom** number ${i} weaves [cloth](https://example.com/${i}) of *wool* and \`silk\`. `;
    const section = [
      `## Section ${i}\n`,
      `${words.repeat(4)}\n`,
      `- one\n  - ${words}\n- [ ] two\n`,
      ...(i % 3 === 0 ? [`| Name | Hours |\n| --- | --: |\n| North | ${i} |\n| South | 12 |\n`] : []),
      ...(i % 5 === 0 ? [`\`\`\`js\nconst loom = ${i};\n\`\`\`\n`] : []),
      ...(i % 7 === 0 ? [`$$\nx^2 + ${i}\n$$\n`] : []),
      `> A quote of ${i}.\n`,
    ].join('\n');
    sections.push(section);
    size += section.length + 1;
  }
  return `${bytes === 0 ? '' : sections.join('\n')}\nThe end.\n`;
}

async function measureSizes(page: Page): Promise<void> {
  const script = await page.locator('script[src$="/editor.js"]').getAttribute('src');
  console.log('Compressed sizes (br), kB');
  let sum = 0;
  for (const part of PARTS) {
    const url = bench.service.address + String(script).replace('editor.js', part);
    const { headers } = await fetch(url, { headers: { 'accept-encoding': 'br' } });
    const size = Number(headers.get('content-length')) / 1024;
    sum += size;
    console.log(`${part.padEnd(16)} ${size.toFixed(1).padStart(6)}`);
  }
  console.log(`${'all of them'.padEnd(16)} ${sum.toFixed(1).padStart(6)}`);
}

/** Opens a page, until its text is drawn and a frame has been painted; milliseconds since the navigation began. */
async function open(page: Page, url: string): Promise<number> {
  await page.goto(url);
  await page.locator('ibid-editor .cm-line').first().waitFor();
  return page.evaluate(() => new Promise<number>((done) => requestAnimationFrame(() => done(performance.now()))));
}

async function measureOpening(page: Page, addresses: Map<string, string>): Promise<void> {
  const times = new Map([...addresses.keys()].map((size) => [size, [] as number[]]));
  for (let i = 0; i <= OPENINGS; i += 1) {
    for (const [size, url] of addresses) {
      const time = await open(page, url);
      if (i > 0) times.get(size)?.push(time);
    }
  }
  const empty = median(times.get('empty') ?? []);
  console.log('\nOpening');
  for (const [size, found] of times) {
    console.log(
      `${size.padEnd(6)} ${median(found).toFixed(0).padStart(5)} ms, ${(median(found) / empty).toFixed(2)} of an empty page`,
    );
  }
  console.log('\nCPU of the main thread for a key, ms');
}

async function measureKeys(page: Page, size: string, url: string, place: string): Promise<void> {
  await open(page, url);
  const text = textOf(page);
  await text.focus();
  await page.keyboard.press(`Control+${place}`);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  for (const key of 'warm ') await page.keyboard.press(key);
  await untilIdle(page, session);
  const isProfiled = process.argv.includes('--profile');
  if (isProfiled) {
    await session.send('Profiler.enable');
    await session.send('Profiler.setSamplingInterval', { interval: 200 });
    await session.send('Profiler.start');
  }
  const times: number[] = [];
  for (let i = 0; i < KEYS; i += 1) {
    const before = await mainThread(session);
    await page.keyboard.press(i % 6 === 5 ? ' ' : 'x');
    await page.waitForTimeout(PACE_MS);
    times.push((await mainThread(session)) - before);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1).padStart(6);
  console.log(
    `${size.padEnd(6)} at the ${place === 'Home' ? 'beginning' : 'end      '}  p50 ${at(0.5)}  p95 ${at(0.95)}`,
  );
  if (isProfiled) await printProfile(session);
  await session.detach();
}

/** The parser goes on in the background until it has reached the end, which takes longer on a busy machine. */
async function untilIdle(page: Page, session: CDPSession): Promise<void> {
  for (let second = 0; second < 60; second += 1) {
    const before = await mainThread(session);
    await page.waitForTimeout(1_000);
    if ((await mainThread(session)) - before < IDLE_MS) return;
  }
}

/** CPU time of all tasks of the main thread so far, in milliseconds. */
async function mainThread(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
}

/** The functions in which a key spends most of its time, with what they call. */
async function printProfile(session: CDPSession): Promise<void> {
  const { profile } = await session.send('Profiler.stop');
  const own = new Map<number, number>();
  for (const [i, id] of (profile.samples ?? []).entries())
    own.set(id, (own.get(id) ?? 0) + (profile.timeDeltas?.[i] ?? 0) / 1_000);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const totals = new Map<string, { own: number; all: number }>();
  const visit = (id: number, above: ReadonlySet<string>): number => {
    const node = nodes.get(id);
    if (!node) return 0;
    const { functionName, url, lineNumber, columnNumber } = node.callFrame;
    const name = `${functionName || '-'} ${url.split('/').at(-1)}:${lineNumber}:${columnNumber}`;
    const inside = new Set([...above, name]);
    const self = own.get(id) ?? 0;
    const all = (node.children ?? []).reduce((sum, child) => sum + visit(child, inside), self);
    const total = totals.get(name) ?? { own: 0, all: 0 };
    totals.set(name, { own: total.own + self, all: total.all + (above.has(name) ? 0 : all) });
    return all;
  };
  visit(profile.nodes[0]?.id ?? 0, new Set());
  const rows = [...totals].sort(([, one], [, other]) => other.all - one.all).slice(0, 60);
  for (const [name, { own: self, all }] of rows) {
    console.log(`  ${(all / KEYS).toFixed(2).padStart(8)} ${(self / KEYS).toFixed(2).padStart(8)}  ${name}`);
  }
}
