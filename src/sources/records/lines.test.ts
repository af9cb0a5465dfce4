import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import type { Owner } from '../../../test/world.ts';
import { docxOf, wordParagraph, zipOf } from '../../../test/zip.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Citation } from './schema.ts';

const world = await sharedWorld();

interface Page {
  page_id: string;
  path: string;
}

async function citationsOf(owner: Owner): Promise<Citation[]> {
  const { body: pages } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages?limit=500`);
  const lists = (pages as Page[]).map(async ({ page_id }) => {
    const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page_id}/citations?limit=500`);
    return body as Citation[];
  });
  return (await Promise.all(lists)).flat();
}

function placesOf(citations: readonly Citation[], filename: string): string[] {
  return citations
    .filter((citation) => citation.filename === filename)
    .map(({ quote, first_line, last_line }) => `${first_line}-${last_line} ${quote.slice(0, 20)}`);
}

const MARKDOWN =
  '\ufeff---\r\ntitle: T\r\n---\r\n\r\n# One\r\n\r\nTwo\r\nthree.\r\n\r\n```\r\nfour\r\n```\r\n\r\n- five\r\n- six\r\n';
const MARKDOWN_PLACES = ['5-5 One', '7-8 Two three.', '11-11 four', '14-14 five', '15-15 six'];

test('a citation names the lines of the uploaded file, even if the file was in an archive', async () => {
  const owner = await world.owner();
  const zip = zipOf([['docs/inside.md', `\n\n${MARKDOWN.slice(1)}`]]);
  await world.upload(owner, owner.wiki_id, {
    'a.md': MARKDOWN,
    'b.txt': 'One\nand two.\n\n\nThree.\n\n    four\n\n    five\n',
    'c.csv': 'name,says\na,"one\ntwo"\n\nb,three\n',
    'd.html': '<h1>One</h1>\n<p>Two</p>',
    'e.zip': zip,
  });
  const citations = await citationsOf(owner);
  assert.ok(citations.every(({ verified }) => verified));
  assert.deepEqual(placesOf(citations, 'a.md'), MARKDOWN_PLACES);
  assert.deepEqual(placesOf(citations, 'b.txt'), ['1-2 One\nand two.', '5-5 Three.', '7-9     four\n\n    five']);
  assert.deepEqual(placesOf(citations, 'c.csv'), ['1-1 name says', '2-3 a one two', '5-5 b three']);
  assert.deepEqual(placesOf(citations, 'd.html'), ['0-0 One', '0-0 Two']);
  // Front matter may follow two empty lines; line numbers still count from the start of the file.
  const inside = citations.filter(({ filename }) => filename.endsWith('inside.md'));
  assert.deepEqual(
    inside.map(({ first_line, last_line }) => `${first_line}-${last_line}`),
    ['7-7', '9-10', '13-13', '16-16', '17-17'],
  );
});

longTest(
  'a citation names the paragraph of a Word document and the chapter of an EPUB, and so does a search',
  async () => {
    const owner = await world.owner();
    const cells = ['Pipe', '12 metres of it'].map((text) => `<w:tc>${wordParagraph(text)}</w:tc>`).join('');
    const word = docxOf(
      `${wordParagraph('A title', 'Heading1')}${wordParagraph('')}${wordParagraph('The same words.')}${wordParagraph('The same words.')}` +
        `<w:p><w:r><w:t>A sentence </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>of pieces*</w:t></w:r></w:p>` +
        `<w:tbl><w:tr>${cells}</w:tr></w:tbl><w:p><w:del><w:r><w:delText>Deleted</w:delText></w:r></w:del></w:p>${wordParagraph('The mercury ends it.')}`,
    );
    const chapter = (words: string): string =>
      `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>${words}</p></body></html>`;
    const names = ['a', 'b', 'c'];
    const epub = zipOf([
      ['mimetype', 'application/epub+zip'],
      ['META-INF/container.xml', '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'],
      [
        'book.opf',
        `<package><manifest>${names.map((name) => `<item id="${name}" href="${name}.xhtml"/>`).join('')}</manifest><spine>${names.map((name) => `<itemref idref="${name}"/>`).join('')}</spine></package>`,
      ],
      ['a.xhtml', chapter('Of the sea.</p><p>And its ships.')],
      ['b.xhtml', chapter('')],
      ['c.xhtml', chapter('Of the uranium.')],
    ]);
    await world.upload(owner, owner.wiki_id, { 'word.docx': word, 'book.epub': epub });
    const citations = await citationsOf(owner);
    assert.deepEqual(
      citations
        .map(({ quote, first_paragraph, last_paragraph, chapter, first_line, first_page }) =>
          [quote, first_paragraph, last_paragraph, chapter, first_line, first_page].join(' '),
        )
        .sort(),
      [
        'A sentence of pieces* 5 5 0 0 0',
        'A title 1 1 0 0 0',
        'And its ships. 0 0 1 0 0',
        'Of the sea. 0 0 1 0 0',
        'Of the uranium. 0 0 3 0 0',
        'Pipe 12 metres of it 6 7 0 0 0',
        'The mercury ends it. 9 9 0 0 0',
        'The same words. 3 3 0 0 0',
        'The same words. 4 4 0 0 0',
      ],
    );
    assert.ok(citations.every(({ verified }) => verified));
    for (const [word, locator] of [
      ['mercury', 'paragraph:9'],
      ['uranium', 'chapter:3'],
    ]) {
      const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/search?query=${word}`);
      assert.deepEqual(
        (body as { locator: string }[]).map((hit) => hit.locator),
        [locator],
      );
    }
  },
);

longTest('citations of a divided file name lines of the whole file', async () => {
  const owner = await world.owner();
  const sentence = (seed: string) => Array.from({ length: 60 }, (_, i) => `${seed}w${i}`).join(' ');
  const markdown = Array.from(
    { length: 700 },
    (_, i) => `${i % 100 === 0 ? `# Chapter ${i}\n\n` : ''}${sentence(`${i}`)}[^1]\n`,
  );
  const text = Array.from({ length: 9_000 }, (_, i) => `line ${i + 1} of all, which says this and that`).join('\n');
  await world.upload(owner, owner.wiki_id, {
    'book.md': `---\ntitle: B\n---\n\n${markdown.join('\n')}\n[^1]: The note.\n`,
    'log.txt': `\n${text}\n`,
  });
  const lines = `---\ntitle: B\n---\n\n${markdown.join('\n')}\n[^1]: The note.\n`.split('\n');
  const citations = await citationsOf(owner);
  const book = citations.filter(({ filename }) => filename === 'book.md');
  assert.ok(new Set(book.map(({ first_line }) => first_line)).size > 700);
  for (const { quote, first_line, last_line } of book) {
    assert.equal(first_line, last_line);
    assert.ok(lines[first_line - 1]?.includes(quote), `${quote.slice(0, 40)} is not on line ${first_line}`);
  }
  const log = citations.filter(({ filename }) => filename === 'log.txt');
  assert.ok(log.length > 2, 'it is divided');
  for (const { quote, first_line, last_line } of log) {
    const said = [...quote.matchAll(/line (\d+)/g)].map(([, number]) => Number(number) + 1);
    if (said.length > 0) assert.deepEqual([first_line, last_line], [said[0], said.at(-1)]);
  }
});

test('a source search names the line of a passage, or its offset if lines were not stored', async () => {
  const owner = await world.owner();
  const rows = Array.from({ length: 300 }, (_, i) => `\tfiller${i}`);
  rows[217] = '\taardvark here';
  await world.upload(owner, owner.wiki_id, { 'a.txt': rows.join('\n'), 'b.md': '# B\n\nA\n*buffalo*.\n' });
  const locatorOf = async (word: string) => {
    const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/sources/search?query=${word}`);
    return body.map(({ locator }: { locator: string }) => locator);
  };
  assert.deepEqual(await locatorOf('aardvark'), ['line:218']);
  assert.deepEqual(await locatorOf('buffalo'), ['line:3']);
  await world.db.query(sql`
    update page_sources set first_lines = '{}', last_lines = '{}' where wiki_id = ${owner.wiki_id}`);
  // Simulate a file that another version compiled.
  await world.db.query(sql`delete from compiled_files where wiki_id = ${owner.wiki_id}`);
  assert.deepEqual(await locatorOf('buffalo'), ['offset:4']);
  const citations = await citationsOf(owner);
  assert.ok(citations.every(({ first_line, last_line }) => first_line === 0 && last_line === 0));
  await world.upload(owner, owner.wiki_id, { 'b.md': '# B\n\nA\n*buffalo*.\n' });
  assert.deepEqual(await locatorOf('buffalo'), ['line:3'], 'the same file again says it');
});
