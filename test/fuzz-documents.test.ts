import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newWiki } from './archives.ts';
import { extent } from './extent.ts';
import { openFuzzedService } from './fuzz/fuzzed-service.ts';
import { type Document, mutatedDocuments } from './fuzz/mutated-documents.ts';
import { MINUTES, runCases } from './fuzz/run-cases.ts';
import { until } from './until.ts';
import type { Answer } from './world.ts';

/** Damaged documents and archives: each becomes a page or a source, or fails with a reason. */
const CASES = MINUTES > 0 ? 200 : extent(7, 3);
/** CPU time of an upload of one to four documents. */
const CPU_MAX_MS = 120_000;
const WAIT_MAX_MS = 10 * 60_000;
const MEMORY_MAX_MB = 2_000;

const service = await openFuzzedService();
const { world } = service;
const owner = await world.owner();
const counts: Record<string, number> = {};
let slowest = 0;
let most = 0;

/** Uploads into a new wiki, which has no other job. */
async function upload(documents: readonly Document[]): Promise<void> {
  const wiki_id = await newWiki(owner);
  const form = new FormData();
  for (const { name, bytes } of documents) form.append('files', new Blob([bytes as Uint8Array<ArrayBuffer>]), name);
  const made = await owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, { body: form });
  assert.ok(made.status < 500, `${made.status} ${JSON.stringify(made.body)}`);
  if (made.status >= 400) return assert.ok(made.body.error && made.body.message, JSON.stringify(made.body));
  const body = await ended(`/v1/wikis/${wiki_id}/uploads/${made.body.upload_id}`);
  count(`upload ${body.status} ${String(body.error).slice(0, 60)}`);
  if (body.status === 'failed') assert.ok(body.error, 'an upload that failed says why');
  const path = `/v1/wikis/${wiki_id}/uploads/${body.upload_id}/files?limit=500`;
  for (const file of (await owner.get(path)).body) {
    count(file.status === 'failed' ? `file failed: ${String(file.error).split(':')[0]}` : `file ${file.status}`);
    if (file.status === 'failed') assert.ok(file.error, `${file.filename} failed without a reason`);
    else if (body.status === 'completed') assert.equal(file.status, 'done', JSON.stringify(file));
  }
}

/** Waits until the upload has ended and returns it. On a busy machine that may take long, but not much CPU time. */
async function ended(path: string): Promise<Answer['body']> {
  const [began, before] = [performance.now(), service.cpuMs()];
  return until(
    'the upload has ended',
    async () => {
      const { body } = await owner.get(path);
      const cpu = service.cpuMs() - before;
      const told = `${cpu} ms of CPU, ${Math.round(performance.now() - began)} ms: ${JSON.stringify(body)}`;
      assert.ok(cpu < CPU_MAX_MS && performance.now() - began < WAIT_MAX_MS, `the upload has not ended: ${told}`);
      return { ...body, cpu };
    },
    ({ finished_at }) => finished_at !== undefined,
  );
}

function count(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

test('every damaged document becomes a page or a source, or fails alone with a reason', async (t) => {
  let documents = 0;
  await runCases(t, {
    cases: CASES,
    arbitrary: mutatedDocuments,
    show: (list) =>
      list
        .map(
          ({ name, bytes }) =>
            `${name}, ${bytes.length} bytes${bytes.length < 3_000 ? `: ${bytes.toString('base64')}` : ''}`,
        )
        .join('\n'),
    async check(list) {
      documents += list.length;
      const before = service.cpuMs();
      try {
        await upload(list);
      } finally {
        await service.assertAlive();
      }
      slowest = Math.max(slowest, service.cpuMs() - before);
      assert.ok(service.cpuMs() - before < CPU_MAX_MS, `the upload took ${service.cpuMs() - before} ms of CPU`);
      most = Math.max(most, service.memoryMb());
      assert.ok(service.memoryMb() < MEMORY_MAX_MB, `the service takes ${Math.round(service.memoryMb())} MB`);
    },
  });
  t.diagnostic(`${documents} documents; ${JSON.stringify(counts)}`);
  t.diagnostic(`at most ${slowest} ms of CPU for an upload, ${Math.round(most)} MB`);
});
