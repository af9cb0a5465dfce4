import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUp } from './clean-up.ts';
import { extent } from './extent.ts';
import { openFuzzedService } from './fuzz/fuzzed-service.ts';
import { isOver, MINUTES } from './fuzz/run-cases.ts';
import { openAsker } from './fuzz/search/asker.ts';
import { type FuzzedWiki, openFuzzedWiki } from './fuzz/search/fuzzed-wiki.ts';
import { keepAliveSender } from './keep-alive.ts';
import { randomNumbers } from './random-numbers.ts';

/**
 * Random documents of all scripts are imported, edited, hidden and deleted while random queries run. SEARCH_DOCUMENTS
 * and SEARCH_QUERIES set the numbers (`npm run test:long -- search`), FUZZ_MINUTES the duration (`npm run fuzz --
 * --only=search`); without either, a few run. A failure prints the seed of its round; FUZZ_SEED repeats that round
 * alone.
 */
const SEED = process.env.FUZZ_SEED ? Number(process.env.FUZZ_SEED) : undefined;
const IS_COUNTED = process.env.SEARCH_DOCUMENTS !== undefined || process.env.SEARCH_QUERIES !== undefined;
const DOCUMENTS = Number(process.env.SEARCH_DOCUMENTS ?? extent(60, 25));
const QUERIES = Number(process.env.SEARCH_QUERIES ?? extent(240, 80));
const IS_LONG = IS_COUNTED || MINUTES > 0;
const FIXED_SEED = 20_261_126;
const FIRST_SEED = SEED ?? (IS_LONG ? Date.now() % 1_000_000_000 : FIXED_SEED);

/** A round imports documents and runs queries at the same time. */
const DOCUMENTS_OF_ROUND = IS_LONG ? 2_000 : 30;
const QUERIES_OF_ROUND = IS_LONG ? 20_000 : 120;
/** After these rounds the index of the wiki is verified, and a new wiki is started. */
const ROUNDS_OF_WIKI = 5;
const LANES = 16;
const FAILURES_MAX = 20;
const TIMEOUT_MS = 24 * 3_600_000;

const { send, close } = keepAliveSender();
const service = await openFuzzedService({ LOG_LEVEL: 'fatal' }, send);
cleanUp(() => close());
const asker = openAsker();
const failures: string[] = [];

function failed(seed: number, error: unknown): void {
  const told = `--seed=${seed}: ${(error as Error).stack}`;
  process.stderr.write(`${told}\n\n`);
  failures.push(told);
}

/** Runs a round: imports its documents while queries run and documents of earlier rounds change. */
async function runRound(wiki: FuzzedWiki, round: number): Promise<number> {
  const seed = FIRST_SEED + round;
  let left = QUERIES_OF_ROUND;
  const lane = async (number: number) => {
    const random = randomNumbers(seed * LANES + number);
    while (left > 0 && failures.length < FAILURES_MAX && !isOver()) {
      left -= 1;
      try {
        await (random() < 0.98 ? wiki.query(random) : wiki.change(random));
      } catch (error) {
        failed(seed, error);
      }
      await service.assertAlive();
    }
  };
  const importing = wiki.importDocuments(round * DOCUMENTS_OF_ROUND, DOCUMENTS_OF_ROUND, randomNumbers(seed));
  if (wiki.documents() === 0) await importing;
  await Promise.all([importing, ...Array.from({ length: LANES }, (_, number) => lane(number))]);
  return QUERIES_OF_ROUND - left;
}

test('any query is answered within a second with visible pages only, and the index equals a rebuilt one', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  t.diagnostic(`seed ${FIRST_SEED}`);
  const all = { asked: 0, pages: 0, postings: 0, wrong: 0 };
  const isEnough = (round: number) =>
    failures.length >= FAILURES_MAX ||
    (SEED !== undefined
      ? round > 0
      : MINUTES > 0
        ? isOver()
        : all.asked >= QUERIES && round * DOCUMENTS_OF_ROUND >= DOCUMENTS);
  for (let round = 0; !isEnough(round); ) {
    const wiki = await openFuzzedWiki(service.world, asker);
    do {
      all.asked += await runRound(wiki, round);
      round += 1;
    } while (round % ROUNDS_OF_WIKI > 0 && !isEnough(round));
    const { pages, postings, wrong } = await wiki.compareIndex();
    all.pages += pages;
    all.postings += postings;
    all.wrong += wrong.length;
    if (wrong.length > 0)
      failed(FIRST_SEED + round - 1, new Error(`the index is wrong: ${wrong.slice(0, 10).join('\n')}`));
    if (IS_LONG)
      process.stderr.write(
        `${new Date().toISOString()} ${all.asked} queries, ${all.pages} pages, ${all.wrong} wrong, slowest ${Math.round(asker.slowest().ms)} ms, ${asker.refused()} refused\n`,
      );
  }
  t.diagnostic(
    `${all.asked} queries and changes, ${all.pages} pages, ${all.postings} postings, ${all.wrong} pages wrong in the index`,
  );
  t.diagnostic(`${asker.refused()} were refused at first, because there was too much to do`);
  t.diagnostic(`the slowest: ${Math.round(asker.slowest().ms)} ms, ${asker.slowest().path.slice(0, 200)}`);
  assert.deepEqual(failures, []);
});
