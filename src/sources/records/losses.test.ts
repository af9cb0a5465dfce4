import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { listAll } from '../../../test/list-all.ts';
import { signedInClient } from '../../../test/signed-in.ts';
import { type Owner, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Source } from './schema.ts';

const world = await openWorld();

/** Returns the only source of a wiki as listed, with its coverage. */
async function sourceOf(owner: Owner) {
  const [source] = await listAll<Source>(owner, `/v1/wikis/${owner.wiki_id}/sources`);
  assert.ok(source);
  const { body: coverage } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/${source.source_id}/coverage`);
  const { body: incomplete } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/losses`);
  return { source, coverage, incomplete };
}

test('a file whose text is complete reports no losses', async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.csv': 'name,"count, of all"\nPear,"1 ""000"""\n' });
  const { coverage, incomplete } = await sourceOf(owner);
  assert.deepEqual(incomplete, []);
  assert.deepEqual(coverage.losses, []);
  assert.equal(coverage.file_characters, 'name'.length + 'count,ofall'.length + 'Pear'.length + '1"000"'.length);
  assert.equal(coverage.text_characters, coverage.file_characters);
  assert.equal(coverage.share, 1);
});

/** Returns the whole text of a source. */
async function textOf(owner: Owner, source_id: string): Promise<string> {
  let text = '';
  for (let length = 1; text.length < length; ) {
    const at = `/v1/wikis/${owner.wiki_id}/sources/${source_id}/text`;
    const { body } = await owner.get(`${at}?start=${text.length}&end=${text.length + 500_000}`);
    text += body.text;
    length = body.length;
  }
  return text;
}

test('columns that a page omits are in the source text', async () => {
  const owner = await world.owner();
  const wide = Array.from({ length: 130 }, (_, i) => `column${i}`);
  await world.upload(owner, owner.wiki_id, { 'a.csv': `${wide.join(',')}\n1,2\n` });
  const { source, incomplete } = await sourceOf(owner);
  assert.deepEqual(incomplete, []);
  assert.match(await textOf(owner, source.source_id), /column129/);
});

longTest('rows that a page omits are in the source text up to a limit, and losses beyond it', async () => {
  const owner = await world.owner();
  const rows = Array.from({ length: 4_000 }, (_, i) => `row ${i} ${'of a long file of rows '.repeat(15)},${i}`);
  const long = 'x'.repeat(3_000);
  await world.upload(owner, owner.wiki_id, { 'a.csv': `name,number\n${long},2\n${rows.join('\n')}\n` });
  const { source, coverage, incomplete } = await sourceOf(owner);
  assert.equal((await textOf(owner, source.source_id)).replace(/[^x]/g, '').length, 3_000);
  const { source_id, title, filename } = source;
  assert.deepEqual(incomplete, [{ source_id, title, filename, losses: 1, losses_to_review: 1 }]);
  const [loss] = coverage.losses;
  assert.deepEqual([loss.kind, loss.place, loss.count], ['cut_text', 'the last rows', 1]);
  assert.match(loss.excerpt, /of a long file of rows/);
  assert.ok(coverage.share < 1);
  assert.ok(coverage.file_characters - coverage.text_characters <= loss.characters);
});

test('uploading a file again recomputes losses that an earlier release stored', async () => {
  const owner = await world.owner();
  const files = { 'a.csv': 'a,b\n1,2\n' };
  await world.upload(owner, owner.wiki_id, files);
  await world.db.query(sql`
    update sources set losses = '[]', file_characters = 0 where wiki_id = ${owner.wiki_id}`);
  await world.db.query(sql`update compiled_files set digest = 'of a release' where wiki_id = ${owner.wiki_id}`);
  assert.equal((await sourceOf(owner)).coverage.share, undefined);
  await world.upload(owner, owner.wiki_id, files);
  assert.equal((await sourceOf(owner)).coverage.share, 1);
});

test('the upload summary, the source list, the source and the page name the missing content', async () => {
  const owner = await world.owner();
  const rows = Array.from({ length: 45_000 }, (_, i) => `row ${i} of a long file of rows,${i}`);
  const { body: upload } = await world.upload(owner, owner.wiki_id, { 'a.csv': `a,b\n${rows.join('\n')}\n` });
  assert.match(
    upload.summary,
    /, 1 file not read completely\. Not read completely: a\.csv \(1 text beyond a limit\)\.$/,
  );
  const { source, incomplete } = await sourceOf(owner);
  const ofPage = async (page_id: string) =>
    (await owner.get(`/v1/wikis/${owner.wiki_id}/sources/losses?page_id=${page_id}`)).body;
  const { page_id } = (await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/a`)).body;
  assert.deepEqual([await ofPage(page_id), await ofPage('page_of_others')], [incomplete, []]);
  const { body } = await owner.get('/v1/overview');
  const root = `${world.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const session = await (await signedInClient(world, owner.user_id)).post('/v1/auth/browser');
  const headers = { accept: 'text/html', cookie: `ibid=${session.body.browser_secret}` };
  const textAt = async (path: string) => (await fetch(`${root}/${path}`, { headers })).text();
  assert.match(
    await textAt('a'),
    new RegExp(`/-/sources/${source.source_id}#losses">1 part of a\\.csv</a> is not shown on this page`),
  );
  assert.match(await textAt('-/sources'), new RegExp(`${source.source_id}#losses">1</a>`));
  const list = await textAt(`-/sources/${source.source_id}`);
  assert.match(
    list,
    /id="losses".*Missing from the text.*The text has \d\d(?:\.\d)? % of the file’s characters.*1 text beyond a limit.*the last rows.*of a long file/s,
  );
});

test('navigation in an HTML file is listed as a loss that needs no review', async () => {
  const owner = await world.owner();
  const { body: upload } = await world.upload(owner, owner.wiki_id, {
    'a.html': '<main><h1>Losses</h1><p>What is read.</p></main><nav>A menu, which is not</nav>',
  });
  assert.match(upload.summary, /1 file read without surrounding content/);
  const { coverage, incomplete } = await sourceOf(owner);
  assert.deepEqual([incomplete[0].losses, incomplete[0].losses_to_review], [1, 0]);
  const [{ kind, count, excerpt }] = coverage.losses;
  assert.deepEqual({ kind, count, excerpt }, { kind: 'navigation', count: 1, excerpt: 'A menu, which is not' });
});
