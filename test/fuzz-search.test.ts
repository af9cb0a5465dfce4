import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import yazl from 'yazl';
import { sql } from '../src/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { openFuzzedService } from './fuzz/fuzzed-service.ts';
import { isOver, MINUTES } from './fuzz/run-cases.ts';
import { openAsker } from './fuzz/search/asker.ts';
import { compareIndex } from './fuzz/search/index-digest.ts';
import {
  below,
  type FuzzedDocument,
  ownWord,
  pick,
  type Random,
  someDocument,
  someQuery,
} from './fuzz/search/texts.ts';
import { keepAliveSender } from './keep-alive.ts';
import { randomNumbers } from './random-numbers.ts';
import { until } from './until.ts';
import type { Client } from './world.ts';

/**
 * Random documents of all scripts are imported, edited, hidden and deleted while random queries are answered; SEARCH_DOCUMENTS and
 * SEARCH_QUERIES say how many (`npm run test:search`), FUZZ_MINUTES how long (`npm run fuzz -- --only=search`), and neither: a
 * few. A failure prints the seed of its round, which FUZZ_SEED repeats alone.
 */
const SEED = process.env.FUZZ_SEED ? Number(process.env.FUZZ_SEED) : undefined;
const IS_COUNTED = process.env.SEARCH_DOCUMENTS !== undefined || process.env.SEARCH_QUERIES !== undefined;
const DOCUMENTS = Number(process.env.SEARCH_DOCUMENTS ?? 60);
const QUERIES = Number(process.env.SEARCH_QUERIES ?? 240);
const IS_LONG = IS_COUNTED || MINUTES > 0;
const FIXED_SEED = 20_261_126;
const FIRST_SEED = SEED ?? (IS_LONG ? Date.now() % 1_000_000_000 : FIXED_SEED);

/** A round imports some documents and asks some queries at the same time. */
const DOCUMENTS_OF_ROUND = IS_LONG ? 2_000 : 30;
const QUERIES_OF_ROUND = IS_LONG ? 20_000 : 120;
const LANES = 16;
const FAILURES_MAX = 20;
const TIMEOUT_MS = 24 * 3_600_000;

interface StoredDocument extends FuzzedDocument {
  /** A word that no other has. */
  own: string;
  page_id: string;
  revision: number;
  isDraft: boolean;
  /** One request changes it at a time. */
  isBusy: boolean;
}

const { send, close } = keepAliveSender();
const service = await openFuzzedService({ LOG_LEVEL: 'fatal' }, send);
cleanUp(() => close());
const { world } = service;
const owner = await world.owner();
const viewer = await world.member(owner.workspace_id, 'viewer');
const wiki = `/v1/wikis/${owner.wiki_id}`;
const stored: StoredDocument[] = [];
const deleted = new Set<string>();
const drafts = new Set<string>();
const failures: string[] = [];
const asker = openAsker();

/** Imports documents as files of an archive, and knows their pages. */
async function importDocuments(round: number, random: Random): Promise<void> {
  const documents = Array.from({ length: DOCUMENTS_OF_ROUND }, (_, n) => ({
    ...someDocument(random),
    own: ownWord(round * DOCUMENTS_OF_ROUND + n),
  }));
  const zip = new yazl.ZipFile();
  for (const [n, { title, text, own }] of documents.entries())
    zip.addBuffer(
      Buffer.from(`# ${title}\n\n${text}\n\n${own}\n`),
      `${n % 2 === 0 ? 'even' : 'odd'}-${round}/document-${n}.md`,
    );
  zip.end();
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(await buffer(zip.outputStream))]), 'documents.zip');
  const { status, body } = await answerOf(
    await fetch(`${world.address}${wiki}/imports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}` },
      body: form,
    }),
  );
  assert.equal(status, 201, JSON.stringify(body));
  const job = await until(
    'the documents are imported',
    async () => (await owner.get(`${wiki}/jobs/${body.job_id}`)).body,
    ({ status: seen }) => seen !== 'queued' && seen !== 'running',
  );
  assert.equal(job.status, 'completed', JSON.stringify(job));
  const rows = await world.db.query<{ page_id: string; path: string; revision: number }>(sql`
    select page_id, path, revision from pages where wiki_id = ${owner.wiki_id} and path like any (${[`even-${round}/%`, `odd-${round}/%`]}::text[])`);
  assert.equal(rows.length, documents.length);
  for (const { page_id, path, revision } of rows) {
    const document = documents[Number(path.slice(path.lastIndexOf('-') + 1))];
    assert.ok(document, path);
    stored.push({ ...document, page_id, revision, isDraft: false, isBusy: false });
  }
}

async function answerOf(answer: Response): Promise<{ status: number; body: any }> {
  return { status: answer.status, body: await answer.json() };
}

/** Edits, hides, shows or deletes a document. */
async function change(random: Random): Promise<void> {
  const document = pick(stored, random);
  if (!document || document.isBusy) return;
  document.isBusy = true;
  const path = `${wiki}/pages/${document.page_id}`;
  const way = random();
  if (way < 0.15) {
    const { status } = await owner.send('DELETE', path);
    assert.equal(status, 204);
    deleted.add(document.page_id);
    stored.splice(stored.indexOf(document), 1);
    return;
  }
  const { title, text } = someDocument(random);
  // What is about to be seen again may be.
  if (way < 0.3) drafts.delete(document.page_id);
  const body =
    way < 0.3
      ? { status: document.isDraft ? 'published' : 'draft' }
      : way < 0.5
        ? { title }
        : { markdown: `${text}\n\n${document.own}\n` };
  const answer = await owner.patch(path, { ...body, base_revision: document.revision });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  document.revision = answer.body.revision;
  document.isDraft = answer.body.status === 'draft';
  if (document.isDraft) drafts.add(document.page_id);
  document.isBusy = false;
}

/** What is asked by a query: by the owner or a viewer, of pages, sources, suggestions or counts. */
function someRequest(query: string, random: Random): { client: Client; path: string } {
  const parameters = [`query=${encodeURIComponent(query)}`];
  const what = random();
  if (what < 0.8) {
    // Most who search look at the first results.
    if (random() < 0.9) parameters.push(`limit=${1 + below(random() < 0.1 ? 100 : 10, random)}`);
    if (random() < 0.1) parameters.push(`offset=${below(random() < 0.1 ? 10_000 : 100, random)}`);
    if (random() < 0.1) parameters.push(`sort=${pick(['updated', 'created', 'title', 'relevance'], random)}`);
    if (random() < 0.05) parameters.push(`status=${pick(['draft', 'published', 'archived'], random)}`);
    if (random() < 0.05) parameters.push(`in=even-${below(60, random)}`);
  }
  const path =
    what < 0.75 ? 'pages/search' : what < 0.8 ? 'sources/search' : what < 0.95 ? 'suggest' : 'pages/search/facets';
  return { client: random() < 0.2 ? viewer : owner, path: `${wiki}/${path}?${parameters.join('&')}` };
}

/** One in ten asks for the word that only one document has. */
async function query(random: Random): Promise<void> {
  const isOwn = random() < 0.1;
  const wanted = isOwn ? pick(stored, random) : undefined;
  const text = wanted ? `${random() < 0.5 ? '+' : ''}${wanted.own}` : someQuery(stored, random);
  const { client, path } = wanted
    ? { client: owner, path: `${wiki}/pages/search?query=${encodeURIComponent(text)}` }
    : someRequest(text, random);
  // What was hidden or deleted before the request is sent must not be in its answer.
  const hidden = new Set(deleted);
  if (client === viewer) for (const id of drafts) hidden.add(id);
  const { status, body } = await asker.ask(client, path);
  const told = `${path} answers ${status}: ${JSON.stringify(body).slice(0, 500)}`;
  if (text.includes('\0')) return assert.equal(status, 400, told);
  assert.equal(status, 200, told);
  if (!Array.isArray(body)) return assert.ok(body.total >= 0, told);
  for (const { page_id, snippet } of body) {
    assert.ok(!hidden.has(page_id), `${path} shows ${page_id}`);
    if (snippet !== undefined) assert.doesNotMatch(snippet.replace(/<\/?mark>/g, ''), /[<>"]/, told);
  }
  if (wanted && !wanted.isBusy && !deleted.has(wanted.page_id))
    assert.ok(
      body.some(({ page_id }: { page_id: string }) => page_id === wanted.page_id),
      `${wanted.page_id} is not found: ${told}`,
    );
}

/** A round: its documents are imported while its queries are asked, and documents of former rounds change. */
async function runRound(round: number, queries: number): Promise<number> {
  const seed = FIRST_SEED + round;
  let left = queries;
  const lane = async (number: number) => {
    const random = randomNumbers(seed * LANES + number);
    while (left > 0 && failures.length < FAILURES_MAX && !isOver()) {
      left -= 1;
      try {
        await (random() < 0.98 ? query(random) : change(random));
      } catch (error) {
        const told = `--seed=${seed}: ${(error as Error).stack}`;
        process.stderr.write(`${told}\n\n`);
        failures.push(told);
      }
      await service.assertAlive();
    }
  };
  const imported = (round + 1) * DOCUMENTS_OF_ROUND <= DOCUMENTS || stored.length === 0 || MINUTES > 0;
  const importing = imported ? importDocuments(round, randomNumbers(seed)) : undefined;
  if (stored.length === 0) await importing;
  await Promise.all([importing, ...Array.from({ length: LANES }, (_, number) => lane(number))]);
  return queries - left;
}

/** Waits until all is merged, and no index is computed again. */
async function settled(): Promise<void> {
  await until(
    'all is merged',
    async () =>
      (
        await world.db.query<{ waiting: number; reindexing: number }>(sql`
          select (select count(*) from search_pending)::int as waiting,
            (select count(*) from search_wikis where is_stale)::int
              + (select count(*) from jobs where kind = 'reindex' and status in ('queued', 'running'))::int as reindexing`)
      )[0],
    (seen) => seen?.waiting === 0 && seen.reindexing === 0,
  );
}

test('any query of any documents is answered within a second with what may be seen, and the index is what a new one would be', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  t.diagnostic(`seed ${FIRST_SEED}`);
  let asked = 0;
  const isEnough = (round: number) =>
    failures.length >= FAILURES_MAX ||
    (SEED !== undefined
      ? round > 0
      : MINUTES > 0
        ? isOver()
        : asked >= QUERIES && round * DOCUMENTS_OF_ROUND >= DOCUMENTS);
  for (let round = 0; !isEnough(round); round += 1) {
    asked += await runRound(round, QUERIES_OF_ROUND);
    if (IS_LONG)
      process.stderr.write(
        `${asked} queries, ${stored.length} documents, ${Math.round(asker.slowest().ms)} ms, ${asker.refused()} refused\n`,
      );
  }
  await settled();
  const { pages, postings, wrong } = await compareIndex(world, owner.wiki_id);
  t.diagnostic(
    `${asked} queries and changes, ${pages} pages, ${postings} postings, ${wrong.length} pages wrong in the index`,
  );
  t.diagnostic(`${asker.refused()} were refused at first, because there was too much to do`);
  t.diagnostic(`the slowest: ${Math.round(asker.slowest().ms)} ms, ${asker.slowest().path.slice(0, 200)}`);
  assert.deepEqual(failures, []);
  assert.deepEqual(wrong.slice(0, 10), []);
});
