import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { getDocument } from 'unpdf/pdfjs';
import { cleanUp } from '../../../test/clean-up.ts';
import { longTest } from '../../../test/extent.ts';
import { listAll } from '../../../test/list-all.ts';
import { pdfOf, pdfOfPages } from '../../../test/pdf.ts';
import { verificationOf } from '../../../test/verification-of.ts';
import { type Owner, openWorld } from '../../../test/world.ts';
import { docxOf, wordParagraph } from '../../../test/zip.ts';
import { verifySources } from '../../operation/cli/verify.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { sql } from '../../platform/db/sql.ts';
import { openFolderBlobs } from '../../platform/providers/storage/folder-blobs.ts';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';
import { openSandbox } from '../../platform/sandbox/sandbox.ts';
import type { Citation } from './schema.ts';

const DATA_DIR = await mkdtemp(join(tmpdir(), 'ibid-citations-'));
cleanUp(() => rm(DATA_DIR, { recursive: true, force: true }));
const world = await openWorld({ DATA_DIR });
const CORPORA = new URL('../shared/corpora/documents/', PACKAGE);

/** The shared corpus of real documents or, if it is missing, a document of each format. */
function documents(): Record<string, string | Buffer> {
  if (existsSync(CORPORA)) {
    return Object.fromEntries(readdirSync(CORPORA).map((name) => [name, readFileSync(new URL(name, CORPORA))]));
  }
  return {
    'a.pdf': pdfOf([
      [
        ['A title', 50, 700, 20],
        ['A paragraph on the first page.', 50, 660],
      ],
      [['And the second.', 50, 700]],
    ]),
    'a.docx': docxOf(`${wordParagraph('Apple', 'Heading1')}${wordParagraph('Pear')}`),
    'a.md': '# T\n\nText[^1].\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n[^1]: note\n',
    'a.html': '<h1>T</h1><p>Text <b>bold</b></p><pre>code\n  </pre>',
    'a.txt': 'One\n\nTwo\n',
    'a.csv': 'a,b\n1,2\n',
  };
}

async function all<T>(owner: Owner, path: string): Promise<T[]> {
  return listAll<T>(owner, `/v1/wikis/${owner.wiki_id}/${path}`);
}

function letters(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '');
}

/** The letters of each PDF page as pdf.js extracts them, in file order. */
async function lettersOfPages(bytes: Uint8Array): Promise<string[]> {
  const document = await getDocument({ data: new Uint8Array(bytes), useSystemFonts: false, verbosity: 0 }).promise;
  const pages: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const { items } = await (await document.getPage(number)).getTextContent();
    pages.push(letters(items.map((item) => ('str' in item ? item.str : '')).join('')));
  }
  return pages;
}

longTest('every block of every document leads to its range in the source, and its hash matches', async (t) => {
  const owner = await world.owner();
  const files = documents();
  await world.upload(owner, owner.wiki_id, files);
  const pages = await all<{ page_id: string; title: string; word_count: number }>(owner, 'pages');
  let blocks = 0;
  for (const page of pages) {
    const citations = await all<Citation>(owner, `pages/${page.page_id}/citations`);
    const source_id = citations[0]?.source_id;
    if (page.word_count === 0) continue;
    assert.ok(source_id, `${page.title} must cite its source`);
    const { body: text } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/${source_id}/text`);
    for (const { verified, start, end, quote, sha256, block } of citations) {
      const where = `block ${block} of ${page.title}`;
      assert.ok(verified, `${where} must verify`);
      assert.equal(text.text.slice(start, end), quote, where);
      assert.equal(hash('sha256', quote), sha256, where);
      assert.notEqual(quote.trim(), '', where);
    }
    const { body: coverage } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/${source_id}/coverage`);
    assert.deepEqual(
      [coverage.covered, coverage.uncovered],
      [coverage.length, []],
      `${page.title} must show all of it`,
    );
    const verification = await verificationOf(owner, `/v1/wikis/${owner.wiki_id}/sources/${source_id}`);
    const { file, text: read, verified, edited, findings, stale_pages } = verification;
    assert.deepEqual(
      { file, read, verified, edited, findings, stale_pages },
      { file: 'intact', read: 'unchanged', verified: citations.length, edited: 0, findings: [], stale_pages: [] },
      page.title,
    );
    blocks += citations.length;
  }
  t.diagnostic(`${pages.length} pages, ${blocks} blocks, all verified`);
});

test('the words of a block are on the PDF page that its citation names', async (t) => {
  const owner = await world.owner();
  const files = Object.entries(documents()).filter(([name]) => name.endsWith('.pdf'));
  await world.upload(owner, owner.wiki_id, Object.fromEntries(files));
  const pages = await all<{ page_id: string }>(owner, 'pages');
  const citations = (
    await Promise.all(pages.map(({ page_id }) => all<Citation>(owner, `pages/${page_id}/citations`)))
  ).flat();
  const words = { all: 0, found: 0 };
  for (const [filename, bytes] of files) {
    const cited = citations.filter((citation) => citation.filename === filename);
    if (cited.length === 0) continue;
    const onPage = await lettersOfPages(bytes as Buffer);
    for (const { first_page, last_page, quote, block } of cited) {
      assert.ok(
        1 <= first_page && first_page <= last_page && last_page <= onPage.length,
        `block ${block} of ${filename}`,
      );
      const there = onPage.slice(first_page - 1, last_page).join('');
      for (const word of quote.split(/\s+/).map(letters)) {
        if (word.length < 4) continue;
        words.all += 1;
        if (there.includes(word)) words.found += 1;
      }
    }
  }
  t.diagnostic(`${words.found} of ${words.all} words of four letters or more stand on their page`);
  // Words that are hyphenated across columns or pages are not contiguous in the file.
  assert.ok(words.all > 0 && words.found > 0.995 * words.all, `only ${words.found} of ${words.all} words were found`);
});

test('a PDF citation has the rectangles of its block, even on rotated or cropped pages', async () => {
  const owner = await world.owner();
  const at = (text: string, x: number, y: number) => `BT /F1 10 Tf ${x} ${y} Td (${text}) Tj ET`;
  const upright = [
    at('A first paragraph.', 50, 700),
    at('- apple', 50, 600),
    at('- pear', 50, 560),
    ...[0, 1, 2].flatMap((row) => [at(`name ${row}`, 50, 500 - 20 * row), at(`value ${row}`, 250, 500 - 20 * row)]),
  ].join(' ');
  const turned = 'BT /F1 10 Tf 0 1 -1 0 200 100 Tm (Text of a page that is turned.) Tj ET';
  const pdf = pdfOfPages([upright, at('Cropped.', 120, 700), turned], '', [
    '',
    '/CropBox[100 100 400 800]',
    '/Rotate 90',
  ]);
  await world.upload(owner, owner.wiki_id, { 'places.pdf': pdf, 'a.md': 'No pages.' });
  const pages = await all<{ page_id: string; title: string }>(owner, 'pages');
  const cited = (
    await Promise.all(pages.map(({ page_id }) => all<Citation>(owner, `pages/${page_id}/citations`)))
  ).flat();
  const boxesOf = (quote: string) => cited.find((each) => each.quote === quote)?.boxes;
  assert.equal(boxesOf('No pages.'), null);
  /** Vertical extent of a 10-point text whose baseline is at a given distance from the top. */
  const expected: [quote: string, page: number, left: number, top: number, bottom: number][] = [
    ['A first paragraph.', 1, 50, 132, 145],
    ['apple', 1, 50, 232, 245],
    ['pear', 1, 50, 272, 285],
    ['name 1 value 1', 1, 50, 352, 365],
    ['Cropped.', 2, 20, 90, 103],
    ['Text of a page that is turned.', 3, 100, 190, 203],
  ];
  for (const [quote, page, left, top, bottom] of expected) {
    const [box, ...more] = boxesOf(quote) ?? [];
    assert.deepEqual({ ...box, right: 0 }, { page, left, top, right: 0, bottom }, quote);
    assert.ok((box?.right ?? 0) > left + 15 && (box?.right ?? 0) < left + 300 && more.length === 0, quote);
  }
});

test('a source search names the PDF page of a passage', async () => {
  const owner = await world.owner();
  const pages = ['aardvark', 'buffalo', 'capybara'].map((name) => [[`The ${name} is an animal.`, 50, 700] as const]);
  await world.upload(owner, owner.wiki_id, { 'animals.pdf': pdfOf(pages), 'birds.md': 'The cassowary is a bird.' });
  const locatorOf = async (word: string) => {
    const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/search?query=${word}`);
    return body.map(({ filename, locator }: { filename: string; locator: string }) => `${filename} ${locator}`);
  };
  assert.deepEqual(await locatorOf('aardvark'), ['animals.pdf page:1']);
  assert.deepEqual(await locatorOf('capybara'), ['animals.pdf page:3']);
  assert.deepEqual(await locatorOf('cassowary'), ['birds.md line:1']);
});

test('deleting a source marks exactly its pages as stale, and uploading the file again restores it', async () => {
  const owner = await world.owner();
  const files = { 'a.md': '# A\n\nOne.\n', 'b.md': '# B\n\nTwo.\n', 'c.md': '# C\n\nThree.\n' };
  await world.upload(owner, owner.wiki_id, files);
  const sources = await all<{ source_id: string; filename: string }>(owner, 'sources');
  const b = sources.find(({ filename }) => filename === 'b.md');
  const gone = await owner.send('DELETE', `/v1/wikis/${owner.wiki_id}/sources/${b?.source_id}`);
  assert.equal(gone.status, 204);
  const staleOf = async () =>
    (await all<{ path: string; stale: boolean; source_count: number }>(owner, 'pages')).map(
      ({ path, stale, source_count }) => [path, stale, source_count],
    );
  assert.deepEqual(await staleOf(), [
    ['a', false, 1],
    ['b', true, 0],
    ['c', false, 1],
  ]);
  const { body: page } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/b`);
  assert.deepEqual(page.citations, []);
  await world.upload(owner, owner.wiki_id, { 'b.md': files['b.md'] });
  assert.deepEqual((await staleOf())[1], ['b', false, 1]);
});

test('altering a source text fails exactly the citations of the altered passage', async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n\nOne.\n\nTwo.\n', 'b.md': '# B\n\nThree.\n' });
  const sources = await all<{ source_id: string; filename: string }>(owner, 'sources');
  const [a, b] = sources.map(({ source_id }) => source_id);
  await world.db.query(sql`update source_texts set text = replace(text, 'Two', 'Too') where source_id = ${a ?? ''}`);
  const pages = await all<{ page_id: string; path: string }>(owner, 'pages');
  const pageA = pages.find(({ path }) => path === 'a')?.page_id;
  const of = async (source_id = '') => {
    const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/${source_id}/verification`);
    const { file, text, citations, verified, stale_pages } = body;
    return { file, text, citations, verified, stale_pages };
  };
  assert.deepEqual(await of(a), { file: 'intact', text: 'altered', citations: 3, verified: 2, stale_pages: [pageA] });
  assert.deepEqual(await of(b), { file: 'intact', text: 'unchanged', citations: 2, verified: 2, stale_pages: [] });
  const citations = await all<Citation>(owner, `pages/${pageA}/citations`);
  assert.deepEqual(
    citations.map(({ quote, verified }) => [quote, verified]),
    [
      ['A', true],
      ['One.', true],
      ['Too.', false],
    ],
  );
});

test("the operator's command verifies all sources and marks pages that fail as stale", async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n\nOne.\n', 'b.md': '# B\n\nTwo.\n', 'c.md': '# C\n' });
  const [sandbox, reader] = [openSandbox(), openDocumentReader()];
  cleanUp(() => Promise.all([sandbox.close(), reader.close()]));
  const blobs = await openFolderBlobs(join(DATA_DIR, 'blobs'));
  const readers = { blobs, readerOf: reader.of, sandboxOf: sandbox.of };
  const verify = async () => {
    const lines: string[] = [];
    const isSound = await verifySources(world.db, readers, owner.wiki_id, (line) => lines.push(line));
    return { isSound, lines };
  };
  assert.deepEqual(await verify(), {
    isSound: true,
    lines: ['3 sources, 5 blocks of pages: 5 verified, 0 edited since, 0 sources do not match'],
  });
  const [, b, c] = await all<{ source_id: string; sha256: string }>(owner, 'sources');
  await world.db.query(sql`update source_texts set text = 'B\nToo.' where source_id = ${b?.source_id ?? ''}`);
  const file = c?.sha256 ?? '';
  await writeFile(join(DATA_DIR, 'blobs', file.slice(0, 2), file), 'something else');
  const { isSound, lines } = await verify();
  assert.equal(isSound, false);
  assert.match(lines[0] ?? '', /b\.md: the file is intact; 1 of 2 blocks do not match$/);
  assert.match(lines[1] ?? '', /b\.md: text_altered \(the text differs from the file\)$/);
  assert.match(lines[2] ?? '', /c\.md: the file is altered; 0 of 1 blocks do not match$/);
  const pages = await all<{ path: string; stale: boolean }>(owner, 'pages');
  assert.deepEqual(
    pages.map(({ path, stale }) => [path, stale]),
    [
      ['a', false],
      ['b', true],
      ['c', false],
    ],
  );
});

test('an edited block is no longer verified, names the changed words, and leaves its passage uncovered', async () => {
  const owner = await world.owner();
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n\nOne stands.\n\nTwo is changed.\n\nThree stands.\n' });
  const [page] = await all<{ page_id: string }>(owner, 'pages');
  const edited = await owner.patch(`/v1/wikis/${owner.wiki_id}/pages/${page?.page_id}`, {
    base_revision: 1,
    markdown: '# A\n\nMine.\n\nOne stands.\n\nTwo was changed.\n\nThree stands.\n',
  });
  assert.equal(edited.status, 200);
  const citations = await all<Citation>(owner, `pages/${page?.page_id}/citations`);
  assert.deepEqual(
    citations.map(({ quote, verified, shown, page_block }) => [quote, verified, shown, page_block]),
    [
      ['A', true, 'unchanged', 0],
      ['One stands.', true, 'unchanged', 2],
      ['Two is changed.', false, 'edited', 3],
      ['Three stands.', true, 'unchanged', 4],
    ],
  );
  assert.deepEqual(
    citations.map(({ changes }) => changes),
    [
      [],
      [],
      [
        { kind: 'same', text: 'Two ' },
        { kind: 'removed', text: 'is' },
        { kind: 'added', text: 'was' },
        { kind: 'same', text: ' changed.' },
      ],
      [],
    ],
  );
  const source = `/v1/wikis/${owner.wiki_id}/sources/${citations[0]?.source_id}`;
  const { body: coverage } = await owner.get(`${source}/coverage`);
  assert.deepEqual(coverage.uncovered, [{ start: 14, end: 29, excerpt: 'Two is changed.' }]);
  const { body: part } = await owner.get(`${source}/text?start=14&end=29`, { accept: 'text/plain' });
  assert.equal(part, 'Two is changed.');
});

test('a sentence is not verified after an added word, a strikethrough, or a duplication', async () => {
  const owner = await world.owner();
  const dose = 'The maximum dose is 10 mg';
  await world.upload(owner, owner.wiki_id, {
    'a.md': `# Dose\n\n${dose}\n\n- Press the red button.\n- Wait.\n- Wait.\n`,
  });
  const [page] = await all<{ page_id: string }>(owner, 'pages');
  const compiled: { markdown: string; revision: number } = (
    await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page?.page_id}`)
  ).body;
  let { revision } = compiled;
  const editsOf = async (from: string, to: string) => {
    const markdown = compiled.markdown.replace(from, to);
    const edited = await owner.patch(`/v1/wikis/${owner.wiki_id}/pages/${page?.page_id}`, {
      base_revision: revision,
      markdown,
    });
    assert.equal(edited.status, 200, to);
    revision += 1;
    const citations = await all<Citation>(owner, `pages/${page?.page_id}/citations`);
    const { body: coverage } = await owner.get(
      `/v1/wikis/${owner.wiki_id}/sources/${citations[0]?.source_id}/coverage`,
    );
    const lost = citations.filter(({ verified }) => !verified);
    const length = lost.reduce((sum, { start, end }) => sum + end - start, 0);
    assert.equal(coverage.length - coverage.covered, length, `what is not verified of “${to}” must not be covered`);
    return lost.map(({ quote, shown }) => `${shown}: ${quote}`);
  };
  assert.deepEqual(await editsOf(dose, `${dose} per kilogram, or 1000 mg`), [`edited: ${dose}`]);
  assert.deepEqual(await editsOf(dose, `It is false that ${dose}`), [`edited: ${dose}`]);
  assert.deepEqual(await editsOf(dose, `~~${dose}~~ wrong.`), [`removed: ${dose}`]);
  assert.deepEqual(await editsOf('10 mg', '10^6^ mg'), [`edited: ${dose}`]);
  assert.deepEqual(await editsOf('10 mg', '1<sup>0</sup> mg'), [`edited: ${dose}`]);
  assert.deepEqual(await editsOf('Press', 'Do not EVER press'), ['edited: Press the red button.']);
  assert.deepEqual(await editsOf('- Wait.\n', ''), ['removed: Wait.']);
  for (const same of [`**The** maximum\n_dose_ is [10 mg](https://example.com)`, `## ${dose}`, `> ${dose}`]) {
    assert.deepEqual(await editsOf(dose, same), [], same);
  }
});

longTest('coverage names the rows of a large table that its page omits', async () => {
  const owner = await world.owner();
  const rows = Array.from({ length: 1_500 }, (_, i) => `row${i},x\n`).join('');
  await world.upload(owner, owner.wiki_id, { 'a.csv': `name,value\n${rows}` });
  const [source] = await all<{ source_id: string }>(owner, 'sources');
  const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/${source?.source_id}/coverage`);
  assert.equal(body.uncovered.length, 1);
  assert.match(body.uncovered[0].excerpt, /^\s*row1000 x\nrow1001 x\n/);
});

test('a source returns its file unchanged; browsers show only PDFs inline, sandboxed, and download the rest', async () => {
  const owner = await world.owner();
  const pdf = pdfOf([[['A title', 50, 700, 20]]]);
  const page = Buffer.from('<h1>A page</h1><script>alert(1)</script>');
  // Wrong names and declared types; the type was detected when the file was read.
  await world.upload(owner, owner.wiki_id, { 'folder/a.pdf': pdf, 'b.html': page, 'c.pdf': page });
  const sources = await all<{ source_id: string; filename: string }>(owner, 'sources');
  for (const [filename, bytes, type, disposition] of [
    ['folder/a.pdf', pdf, 'application/pdf', /^inline; filename="?a\.pdf/],
    ['b.html', page, 'text/html', /^attachment; filename="?b\.html/],
  ] as const) {
    const source_id = sources.find((source) => source.filename === filename)?.source_id;
    const response = await fetch(`${world.address}/v1/wikis/${owner.wiki_id}/sources/${source_id}/content`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    const { status, headers } = response;
    assert.equal(status, 200);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
    assert.equal(headers.get('content-type'), type);
    assert.match(headers.get('content-disposition') ?? '', disposition);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'; sandbox/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  }
  for (const { filename } of sources) assert.notEqual(filename, 'c.pdf', 'what is no PDF is no source under that name');
});

longTest('equal bytes as two file types are one source, and no false citation is made', async () => {
  const owner = await world.owner();
  const text = '# License\n\n*You* may `copy` it,\nand more.\n\n- one\n- two\n';
  for (const names of [['license.md', 'license.txt'], ['license.txt'], ['license.md']]) {
    await world.upload(owner, owner.wiki_id, Object.fromEntries(names.map((name) => [name, text])));
    const { body: pages } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages`);
    const cited = await Promise.all(
      pages.map(async ({ page_id }: { page_id: string }) => {
        const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page_id}/citations`);
        assert.ok(body.every(({ verified }: Citation) => verified));
        return body.map(({ quote }: Citation) => quote);
      }),
    );
    assert.deepEqual(cited, [['License', 'You may copy it, and more.', 'one', 'two'], []]);
  }
  assert.equal((await owner.get(`/v1/wikis/${owner.wiki_id}/sources`)).body.length, 1);
});
