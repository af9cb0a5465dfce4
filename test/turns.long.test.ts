import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './until.ts';
import { openWorld } from './world.ts';

const PAGES = 50;
const CHARACTERS = 90_000;
const WORDS = Array.from({ length: 2_000 }, (_, i) => `w${i.toString(36)}qé`);

const world = await openWorld();
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;
for (let page = 0; page < PAGES; page += 1) {
  const words: string[] = [];
  for (let i = 0, length = 0; length < CHARACTERS; i += 1, length += 6) {
    words.push(WORDS[(page * 31 + i * 17) % WORDS.length] ?? '', i % 40 === 39 ? '\n\n' : ' ');
  }
  const { status } = await owner.post(`${wiki}/pages`, { title: `Long ${page}`, markdown: `${words.join('')} beacon` });
  assert.equal(status, 201);
}
const find = (query: string) => owner.get(`${wiki}/pages/search?limit=50&query=${encodeURIComponent(query)}`);
await until(
  'all pages are found',
  async () => (await find('beacon')).body.length,
  (found) => found === PAGES,
);

/**
 * Measures the CPU time in ms of this process, which includes the service, during some work: in total, and in its
 * longest turn of the event loop.
 */
async function turnsDuring(work: Promise<unknown>): Promise<{ all: number; longest: number }> {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [isOver, longest] = [false, 0];
  const began = spent();
  const watched = (async () => {
    for (let before = spent(); !isOver; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = spent();
      longest = Math.max(longest, now - before);
      before = now;
    }
  })();
  await work.finally(() => {
    isOver = true;
  });
  await watched;
  return { all: spent() - began, longest };
}

for (const [name, query] of [
  ['many words', Array.from({ length: 30 }, (_, i) => WORDS[40 * i]).join(' ')],
  ['a phrase that no page has', `"${WORDS[3]} ${WORDS[9]}"`],
] as const) {
  test(`a search of long pages for ${name} yields to other requests`, async (t) => {
    await find(query);
    const { all, longest } = await turnsDuring(find(query));
    t.diagnostic(`${longest.toFixed(1)} of ${all.toFixed(1)} ms`);
    assert.ok(longest < all / 4, `a turn took ${longest.toFixed(1)} of ${all.toFixed(1)} ms`);
  });
}
