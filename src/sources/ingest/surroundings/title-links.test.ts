import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { longTest } from '../../../../test/extent.ts';
import { pdfOf } from '../../../../test/pdf.ts';
import { sharedWorld } from '../../../../test/shared-world.ts';
import { verificationOf } from '../../../../test/verification-of.ts';
import { docxOf, wordParagraph } from '../../../../test/zip.ts';
import { PACKAGE } from '../../../platform/core/package/package-files.ts';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import type { Citation } from '../../records/schema.ts';
import type { PendingFile } from '../compiled-upload.ts';
import { openFilesAround } from './files-around.ts';
import { knownTitles } from './known-titles.ts';

const world = await sharedWorld();
const owner = await world.owner();
const CORPORA = new URL('../shared/corpora/documents/', PACKAGE);

async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Documents' });
  const at = `/v1/wikis/${body.wiki_id}`;
  const page = async (path: string) => {
    const answer = await owner.get(`${at}/pages/path/${path}`);
    assert.equal(answer.status, 200, `there must be a page ${path}`);
    return answer.body;
  };
  return {
    at,
    page,
    markdown: async (path: string) => (await page(path)).markdown as string,
    async upload(files: Record<string, string | Uint8Array>): Promise<string> {
      const upload = await world.upload(owner, body.wiki_id, files);
      assert.equal(upload.body.status, 'completed', JSON.stringify(upload.body));
      return upload.body.summary;
    },
    async create(fields: Record<string, unknown>) {
      const answer = await owner.post(`${at}/pages`, fields);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    },
    async edit(path: string, change: Record<string, unknown>) {
      const { page_id, revision } = await page(path);
      const answer = await owner.patch(`${at}/pages/${page_id}`, { base_revision: revision, ...change });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    },
    backlinks: async (path: string): Promise<string[]> =>
      (await owner.get(`${at}/pages/${(await page(path)).page_id}/backlinks`)).body
        .map((each: { path: string }) => each.path)
        .sort(),
    /** Asserts that every compiled block is verified in its source. */
    async assertCited() {
      let blocks = 0;
      for (const { page_id, path } of (await owner.get(`${at}/pages?limit=500`)).body) {
        const citations: Citation[] = (await owner.get(`${at}/pages/${page_id}/citations?limit=500`)).body;
        for (const { quote, sha256, verified } of citations) {
          assert.ok(verified && hash('sha256', quote) === sha256, `${path}: ${quote}`);
        }
        blocks += citations.length;
      }
      for (const { source_id, filename, page_count } of (await owner.get(`${at}/sources?limit=500`)).body) {
        if (page_count === 0) continue;
        const seen = await verificationOf(owner, `${at}/sources/${source_id}`);
        assert.deepEqual([seen.verified, seen.stale_pages], [seen.citations, []], filename);
        assert.deepEqual((await owner.get(`${at}/sources/${source_id}/coverage`)).body.uncovered, [], filename);
      }
      return blocks;
    },
  };
}

const html = (title: string, body: string) => `<!doctype html><title>${title}</title><body>${body}`;
const paragraphs = (...texts: string[]) => docxOf(texts.map((text) => wordParagraph(text)).join(''));

test('documents of one upload that mention each other are linked and have backlinks', async () => {
  const wiki = await newWiki();
  await wiki.upload({
    'legal/dpa.html': html('Data Processing Agreement', '<p>It belongs to the Master Service Contract.'),
    'sales/Master Service Contract.docx': paragraphs(
      'See the Data Processing Agreement, §3. The Data Processing Agreement wins.',
      'Prices are in the price list of 2024.',
    ),
    'sales/price-list-of-2024.pdf': pdfOf([[['As in the Master Service Contract.', 50, 700]]]),
    'notes.txt': 'Sign the Master Service Contract\nand the "Data Processing Agreement".',
    'all.csv': 'document;owner\nData Processing Agreement;Ann\nMaster Service Contract;Bob\n',
  });
  assert.equal(
    await wiki.markdown('sales/master-service-contract'),
    'See the [Data Processing Agreement](../legal/dpa), §3. The Data Processing Agreement wins.\n\n' +
      'Prices are in the [price list of 2024](price-list-of-2024).\n',
  );
  assert.equal(
    await wiki.markdown('legal/dpa'),
    'It belongs to the [Master Service Contract](../sales/master-service-contract).\n',
  );
  assert.equal(
    await wiki.markdown('notes'),
    'Sign the [Master Service Contract](sales/master-service-contract)\\\nand the "[Data Processing Agreement](legal/dpa)".\n',
  );
  assert.match((await wiki.page('all')).html, /<td><a href="legal\/dpa">Data Processing Agreement<\/a><\/td>/);
  assert.deepEqual(await wiki.backlinks('legal/dpa'), ['all', 'notes', 'sales/master-service-contract']);
  assert.deepEqual(await wiki.backlinks('sales/price-list-of-2024'), ['sales/master-service-contract']);
  await wiki.assertCited();
});

test('a document of a later upload links to existing pages of any origin', async () => {
  const wiki = await newWiki();
  const markdown = '---\nlang: en\n---\n\n# Style `Guide` 7\n\nNothing.\n';
  await wiki.upload({ 'guide.md': markdown, 'travel-policy.pdf': pdfOf([[['Go by train.', 50, 700]]]) });
  await wiki.create({ title: 'OAuth2', markdown: 'By hand.' });
  const { page_id } = await wiki.page('guide');
  await owner.post(`${wiki.at}/pages/${page_id}/move`, {});
  await wiki.upload({
    'late.html': html('Late', '<p>Style Guide 7, OAuth2 and the Travel Policy.'),
    'later.md': '# Later\n\nStyle Guide 7, OAuth2 and the Travel Policy.\n',
  });
  assert.equal(
    await wiki.markdown('late'),
    '[Style Guide 7](guide), [OAuth2](oauth2) and the [Travel Policy](travel-policy).\n',
  );
  assert.equal(
    await wiki.markdown('later'),
    '# Later\n\nStyle Guide 7, OAuth2 and the Travel Policy.\n',
    'authors of Markdown set their links themselves',
  );
  assert.equal(await wiki.markdown('guide'), markdown);
  await wiki.edit('guide', { slug: 'style' });
  assert.match(await wiki.markdown('late'), /^\[Style Guide 7\]\(style\)/, 'the link goes with the page');
});

test('ambiguous titles, common words, code and restricted pages are not linked', async () => {
  const wiki = await newWiki();
  for (const fields of [
    { title: 'Annual Report', slug: 'a' },
    { title: 'Annual Report', slug: 'b' },
    { title: 'Install' },
    { title: 'Secret Project', status: 'draft' },
    { title: 'Former Project', status: 'archived' },
    { title: 'Thrown Away' },
    { title: 'Good Name' },
  ])
    await wiki.create({ markdown: 'x', ...fields });
  await owner.send('DELETE', `${wiki.at}/pages/${(await wiki.page('thrown-away')).page_id}`);
  const elsewhere = await newWiki();
  await elsewhere.create({ title: 'Other Wiki', markdown: 'x' });
  await wiki.upload({
    'Related Work/x.md': '# x\n',
    'stay.html': html(
      'Stay Here',
      `<h1>Good Name</h1><p>Annual Report, Install, Secret Project, Former Project, Thrown Away, Other Wiki, Related Work,
       Stay Here, <code>Good Name</code>, <a href="https://x.example">Good Name</a>, Good Name-2.<pre>Good Name</pre>`,
    ),
  });
  const { markdown } = await wiki.page('stay');
  assert.deepEqual(markdown.match(/\]\([^)]*\)/g), ['](https://x.example)'], markdown);
});

test('a link that a user removed stays removed when the file changes, and the rest merges', async () => {
  const wiki = await newWiki();
  await wiki.create({ title: 'Data Processing Agreement', markdown: 'x' });
  const file = (end: string) => paragraphs('See the Data Processing Agreement.', 'In between.', end);
  await wiki.upload({ 'contract.docx': file('One.') });
  const linked = 'See the [Data Processing Agreement](data-processing-agreement).\n\nIn between.\n\nOne.\n';
  assert.equal(await wiki.markdown('contract'), linked);
  await wiki.edit('contract', { markdown: linked.replace(/\[(.*)\]\(.*?\)/, '$1') });
  assert.match(await wiki.upload({ 'contract.docx': file('Two.') }), /1 page merged/);
  assert.equal(await wiki.markdown('contract'), 'See the Data Processing Agreement.\n\nIn between.\n\nTwo.\n');
  assert.match(await wiki.upload({ 'contract.docx': file('Three.') }), /1 page merged/);
  assert.equal(await wiki.markdown('contract'), 'See the Data Processing Agreement.\n\nIn between.\n\nThree.\n');
  assert.deepEqual(await wiki.backlinks('data-processing-agreement'), []);
  assert.equal(await wiki.assertCited(), 3, 'the block says what its source says');
});

test('unchanged bytes make no revision when a mentioned page appears, and a changed file links to it', async () => {
  const wiki = await newWiki();
  const file = (end: string) => html('A Contract', `<p>See the Data Processing Agreement.<p>${end}`);
  await wiki.upload({ 'contract.html': file('One.') });
  await wiki.upload({ 'dpa.html': html('Data Processing Agreement', '<p>x') });
  assert.doesNotMatch(await wiki.upload({ 'contract.html': file('One.') }), /updated|merged/);
  assert.equal((await wiki.page('contract')).revision, 1);
  assert.match(await wiki.upload({ 'contract.html': file('Two.') }), /1 page updated/);
  assert.equal(await wiki.markdown('contract'), 'See the [Data Processing Agreement](dpa).\n\nTwo.\n');
  assert.doesNotMatch(await wiki.upload({ 'contract.html': file('Two.') }), /updated|merged/);
  assert.equal((await wiki.page('contract')).revision, 2);
});

longTest('documents uploaded together again link to each other by the titles of their existing pages', async () => {
  const wiki = await newWiki();
  const files = (end: string) => ({
    'a1.docx': docxOf(
      '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Employee Handbook</w:t></w:r></w:p>' +
        wordParagraph(end),
    ),
    'b1.docx': paragraphs('See the Employee Handbook.', end),
  });
  await wiki.upload(files('One.'));
  const { title } = await wiki.page('a1');
  assert.equal(title, 'Employee Handbook');
  assert.equal(await wiki.markdown('b1'), 'See the Employee Handbook.\n\nOne.\n', 'its name was not known yet');
  await wiki.upload(files('Two.'));
  assert.equal(await wiki.markdown('b1'), 'See the [Employee Handbook](a1).\n\nTwo.\n');
  await wiki.upload(files('Three.'));
  assert.equal(await wiki.markdown('b1'), 'See the [Employee Handbook](a1).\n\nThree.\n');
});

longTest('the parts of a long document link to other pages, but not to each other or to the whole', async () => {
  const wiki = await newWiki();
  await wiki.create({ title: 'Data Processing Agreement', markdown: 'x' });
  const words = 'as was said before '.repeat(9_000);
  const chapter = (n: number) =>
    `<h2>The Chapter Number ${n}</h2><p>The Whole Book, The Chapter Number ${3 - n}, the Data Processing Agreement.<p>${words}`;
  await wiki.upload({ 'book.html': html('The Whole Book', chapter(1) + chapter(2)) });
  for (const n of [1, 2]) {
    const text = await wiki.markdown(`book/the-chapter-number-${n}`);
    assert.deepEqual(text.match(/\[.*?\]\(.*?\)/g), ['[Data Processing Agreement](../data-processing-agreement)']);
  }
  await wiki.upload({ 'other.html': html('Other', '<p>The Whole Book, The Chapter Number 1.') });
  assert.equal(await wiki.markdown('other'), '[The Whole Book](book), The Chapter Number 1.\n');
  await wiki.assertCited();
});

longTest('titles cannot break out of a link, and 50,000 titles can be known at once', async () => {
  const wiki = await newWiki();
  const titles = [
    'a](javascript:alert(1) b',
    '**Bold Title**',
    'The `code` Title',
    '.*+?^${}()|[\\] title',
    '\\ back slash',
    '<b>Some Title</b>',
  ];
  for (const title of [...titles, 'x y'.repeat(80), 'Good Title']) await wiki.create({ title, markdown: 'x' });
  const escaped = titles.map((title) => `<p>${title.replaceAll('<', '&lt;')}`).join('');
  const text = html('Text', `${escaped}<p>${'Good Title '.repeat(8_000)}<p>${'Good '.repeat(10_000)}`);
  const { wiki_id } = await wiki.page('good-title');
  await world.db.query(sql`
    insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
    select ${wiki_id}, 'page_' || n, 'p' || n, 'p' || n, 'Good Title number ' || n, 'authored', 1, 1, 'user_x', 'user_x'
    from generate_series(1, 50000) n`);
  await wiki.upload({ 'text.html': text });
  const { html: shown, markdown } = await wiki.page('text');
  assert.doesNotMatch(shown, /javascript:[^<]*"/);
  assert.equal(markdown.split('](').length - 1, 1, markdown.slice(0, 500));
  assert.match(markdown, /\[Good Title\]\(good-title\) Good Title Good/);
});

longTest('in a wiki of 10,000 pages, a small upload reads only the titles that it mentions', async () => {
  const wiki = await newWiki();
  const called = ['OAuth2', 'École Normale Supérieure', '知识产权保护指南', 'Travel Policy (EU)', 'Twice Called'];
  for (const title of [...called, 'Twice Called']) await wiki.create({ title, markdown: 'x' });
  await wiki.upload({ 'Price List.pdf': pdfOf([[['Prices.', 50, 700]]]) });
  const { wiki_id } = await wiki.page('oauth2');
  await world.db.query(sql`
    insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
    select ${wiki_id}, ${wiki_id} || n, 'p' || n, 'p' || n, n || ' Manual of Pumps', 'authored', 1, 1, 'user_x', 'user_x'
    from generate_series(1, 10000) n`);
  const text =
    '<p>See the Travel Policy\n(EU), oAuth2, the école Normale Supérieure, 知识产权保护指南, the Price&nbsp;List and Twice Called, 7 Manual of Pumps.';
  await wiki.upload({ 'one.html': html('One', text) });
  const links = (await wiki.markdown('one')).match(/\]\([^)]*\)/g);
  const { upload_id } = (await owner.get(`${wiki.at}/uploads`)).body[0];
  let rows = 0;
  const query: Query = async (statement) => {
    const found = await world.db.query(statement);
    rows += found.length;
    return found as never;
  };
  const needs = {
    query,
    blobs: { stream: async () => Readable.from([]) } as unknown as Blobs,
    stopping: new AbortController().signal,
  };
  const file = { kind: 'file', filename: 'one.html' } as PendingFile;
  const around = await openFilesAround(query, { wiki_id, upload_id }, new Map(), null);
  const titles = await knownTitles(needs, { wiki_id, upload_id }, [file], around);
  const named = await titles.namedIn('As 7 Manual of Pumps says, and OAuth2.');
  assert.deepEqual(
    named
      ?.slice(0, 2)
      .map(({ title }) => title)
      .sort(),
    ['7 Manual of Pumps', 'OAuth2'],
  );
  assert.equal(await titles.namedIn('Nothing of this is a title.'), undefined);
  assert.ok(rows < 10, `${rows} rows were read`);
  await titles.all();
  assert.ok(rows > 10_000, 'a text that is too long to be asked about may name any page');
  assert.deepEqual(links, [
    '](travel-policy-eu)',
    '](oauth2)',
    '](ecole-normale-superieure)',
    '](知识产权保护指南)',
    '](price-list)',
    '](p7)',
  ]);
});

test('an upload of only Markdown queries and reads nothing for titles', async () => {
  const never = () => {
    throw new Error('no title should be looked up');
  };
  const file = { kind: 'file', filename: 'a/B.MD' } as PendingFile;
  const folder = { kind: 'folder', filename: 'a' } as PendingFile;
  const needs = { query: never, blobs: { stream: never } as unknown as Blobs, stopping: new AbortController().signal };
  const upload = { wiki_id: 'wiki_x', upload_id: 'upload_x' };
  const around = await openFilesAround(async () => [], upload, new Map(), null);
  assert.deepEqual((await knownTitles(needs, upload, [file, folder], around)).known, []);
});

/** The shared corpus of real documents or, if it is missing, a document of each format. */
function documents(): Record<string, Uint8Array> {
  if (existsSync(CORPORA)) {
    return Object.fromEntries(readdirSync(CORPORA).map((name) => [name, readFileSync(new URL(name, CORPORA))]));
  }
  return { 'x.pdf': pdfOf([[['Compiled by TraceMonkey.', 50, 700]]]), 'y.docx': paragraphs('Of TraceMonkey.') };
}

longTest('every block of a document with title links matches its source word for word', async () => {
  const wiki = await newWiki();
  for (const title of ['TraceMonkey', 'JavaScript', 'A Second Opinion']) await wiki.create({ title, markdown: 'x' });
  await wiki.upload(documents());
  assert.ok((await wiki.backlinks('tracemonkey')).length > 0);
  assert.ok((await wiki.assertCited()) > 0);
});
