import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pasteForService } from './paste.ts';
import { makeFolder } from './process.ts';
import { makeDatabase, openWorld } from './world.ts';

const database = await makeDatabase();
const world = await openWorld({ DATABASE_URL: database });

test('the page for beginners leads from a key to a citation, command by command', async () => {
  const [key, functions, wiki, page, revision, upload, job = '', found, citations, refusal] = await pasteForService(
    'docs/getting-started.md',
    { address: world.address, database, cwd: await makeFolder() },
  );
  assert.deepEqual([key, functions, upload], ['', '', ''], 'what is kept in a variable is not printed');
  assert.match(wiki ?? '', /^wiki_\w{26}$/);
  assert.equal(JSON.parse(page ?? '').html, '<p>Green tea takes <strong>two</strong> minutes.</p>');
  assert.equal(revision, '2');
  const [summary, jobs = ''] = job.split('\n');
  assert.match(summary ?? '', /^1 file: 1 new source, 1 new page\./);
  assert.deepEqual(
    JSON.parse(jobs).map(({ kind, status }: Record<string, string>) => [kind, status]),
    [['ingest', 'completed']],
  );
  assert.match(found ?? '', /<mark>ninety<\/mark>/);
  assert.match(citations ?? '', /^tea\/oolong\.md \| 3 \| Oolong tea is steeped at ninety degrees .* \| true$/m);
  assert.equal(refusal, 'not_found');
});

test('the service shows the page for beginners, and all its links resolve', async () => {
  const shown = await world.anonymous.get('/docs/getting-started');
  assert.equal(shown.status, 200);
  assert.match(shown.body, /<h1[^>]*>Getting started with the API<\/h1>/);
  assert.ok(!shown.body.includes('127.0.0.1:8080'), 'the commands have the address of this service');
  const links = [...shown.body.matchAll(/href="([^"#]*)/g)].map(([, link = '']) => new URL(link, world.address));
  const own = new Set(links.filter(({ origin }) => origin === world.address).map(({ pathname }) => pathname));
  assert.ok(own.has('/docs/errors') && own.has('/docs') && own.has('/openapi.json'));
  for (const path of own) {
    if (path.startsWith('/assets/')) continue;
    const { status } = await fetch(`${world.address}${path}`);
    assert.ok(status < 400, `${path} is answered ${status}`);
  }
});
