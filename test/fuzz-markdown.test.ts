import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extent } from './extent.ts';
import { sendBounded, sentText } from './fuzz/bounded-request.ts';
import { openFuzzedService } from './fuzz/fuzzed-service.ts';
import { markdownTexts } from './fuzz/markdown-texts.ts';
import { MINUTES, runCases } from './fuzz/run-cases.ts';
import { withJson } from './requests.ts';
import { assertSafe } from './safe-pages.ts';

/** Texts rendered as previews and as pages: each ends within its budget as HTML, as plain text or with a refusal. */
const CASES = MINUTES > 0 ? 500 : extent(60, 20);
/** A text may take 10 seconds of a thread's CPU time, in addition to parsing the request, storing and indexing. */
const CPU_MAX_MS = 20_000;
const MEMORY_MAX_MB = 1_500;

const service = await openFuzzedService();
const { world } = service;
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;
let slowest = { ms: 0, text: '' };
let most = 0;

/** Previews the text or, for every eighth length, saves it as a page and deletes the page. */
async function render(markdown: string): Promise<void> {
  const isPage = markdown.length % 8 === 0;
  const [path, body] = isPage ? [`${wiki}/pages`, { title: 'Fuzzed', markdown }] : [`${wiki}/preview`, { markdown }];
  const headers = { authorization: `Bearer ${owner.token}` };
  const answer = await sendBounded(world.address, withJson({ method: 'POST', path, headers }, JSON.stringify(body)));
  const told = `${answer.status} ${answer.text.slice(0, 300)}`;
  assert.ok(answer.status < 500, told);
  if (answer.status >= 400) return assert.ok(answer.body.error && answer.body.message && answer.body.request_id, told);
  assertSafe(answer.body.html, markdown);
  if (isPage) await owner.send('DELETE', `${wiki}/pages/${answer.body.page_id}`);
}

test('no text stops the service, or exceeds its limits of time and memory', async (t) => {
  await runCases(t, {
    cases: CASES,
    arbitrary: markdownTexts,
    show: (text) =>
      text.length < 3_000 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 1_500))}… ${text.length} characters`,
    async check(markdown) {
      const before = service.cpuMs();
      try {
        await render(markdown);
      } finally {
        await service.assertAlive();
      }
      const ms = service.cpuMs() - before;
      if (ms > slowest.ms) slowest = { ms, text: markdown.slice(0, 80) };
      assert.ok(ms < CPU_MAX_MS, `the text took ${ms} ms of CPU`);
      const memory = service.memoryMb();
      most = Math.max(most, memory);
      assert.ok(memory < MEMORY_MAX_MB, `the service takes ${Math.round(memory)} MB`);
    },
  });
  t.diagnostic(sentText());
  t.diagnostic(`at most ${slowest.ms} ms of CPU, for ${JSON.stringify(slowest.text)}…; at most ${Math.round(most)} MB`);
});
