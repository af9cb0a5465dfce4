import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { extent } from '../extent.ts';
import { listAll } from '../list-all.ts';
import { pdfOf } from '../pdf.ts';
import { sharedWorld } from '../shared-world.ts';
import type { Owner } from '../world.ts';
import { docxOf, wordParagraph } from '../zip.ts';

/**
 * Audits provenance from outside: only through HTTP, with hashes, blocks and lines that are computed here. Imports no
 * code of src.
 */
const world = await sharedWorld();

/** Real pages, if they are installed. AUDIT: number of pages to try. */
const TLDR = new URL('../shared/corpora/tldr/common/', PACKAGE);
const SAMPLE = Number(process.env.AUDIT ?? extent(60, 15));

interface Citation {
  source_id: string;
  start: number;
  end: number;
  first_line: number;
  last_line: number;
  quote: string;
  sha256: string;
  verified: boolean;
}

function sampleFiles(): Record<string, string | Buffer> {
  const names = existsSync(TLDR) ? readdirSync(TLDR).sort() : [];
  const step = Math.max(1, Math.floor(names.length / SAMPLE));
  const real = names.filter((name, i) => name.endsWith('.md') && i % step === 0).slice(0, SAMPLE);
  return {
    ...Object.fromEntries(real.map((name) => [`tldr/${name}`, readFileSync(new URL(encodeURIComponent(name), TLDR))])),
    'own.md':
      '---\ntitle: Own\n---\n\n# Own\n\nA *paragraph* with `code` and a [link](https://x.example).\n\n- one\n- two\n\n```\ncode\n```\n\n> quote\n',
    'crlf.md': '# Lines\r\n\r\nFirst.\r\n\r\nSecond,\r\nover two lines.\r\n',
    'twice.md': '# Twice\n\nThe same.\n\nThe same.\n',
    'text.txt': 'Prose of a text.\n\nAnother paragraph of it.\n',
    'table.csv': 'name,count\npear,1\nplum,22\n',
    'page.html': '<title>Page</title><h1>Page</h1><p>What it <b>says</b>.</p><ul><li>one<li>two</ul>',
    'letter.docx': docxOf(`${wordParagraph('Letter', 'Heading1')}${wordParagraph('Dear reader, this is it.')}`),
    'paper.pdf': pdfOf([
      [
        ['Paper', 50, 700, 20],
        ['What the paper says on its page.', 50, 660],
      ],
    ]),
  };
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Keeps only letters and digits, since sources and pages differ in marks and white space. */
function letters(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '');
}

function wordsOf(node: Nodes): string {
  if ('value' in node) return node.type === 'html' ? '' : node.value;
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

/** Returns the texts of the paragraphs, headings and code blocks of a document, in order. */
function blocksOf(markdown: string): string[] {
  const blocks: string[] = [];
  const open: Nodes[] = [fromMarkdown(markdown.replace(/^---\n.*?\n---\n/s, ''))];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'code')
      blocks.push(letters(wordsOf(node)));
    else if ('children' in node) open.push(...node.children.toReversed());
  }
  return blocks.filter((block) => block !== '');
}

const owner: Owner = await world.owner();
const files = sampleFiles();
const { body: upload } = await world.upload(owner, owner.wiki_id, files);
const wiki = `/v1/wikis/${owner.wiki_id}`;
const sources = await listAll<{ source_id: string; filename: string; sha256: string }>(owner, `${wiki}/sources`);
const pages = await listAll<{ page_id: string; path: string; source_count: number }>(owner, `${wiki}/pages`);

test('every file is a source with the hash of its bytes', () => {
  assert.equal(upload.status, 'completed', upload.error);
  assert.deepEqual(
    sources.map(({ filename }) => filename).sort(),
    Object.keys(files).sort(),
    'each file is one source',
  );
  for (const { filename, sha256: stated } of sources) assert.equal(stated, sha256(files[filename] ?? ''), filename);
});

test('every citation of every page equals the source at its position, with its hash and its lines', async (t) => {
  let count = 0;
  for (const page of pages) {
    for (const citation of await listAll<Citation>(owner, `${wiki}/pages/${page.page_id}/citations`)) {
      const { source_id, start, end, quote, first_line, last_line, verified } = citation;
      const where = `${page.path}: ${quote.slice(0, 40)}`;
      const { body: part } = await owner.get(`${wiki}/sources/${source_id}/text?start=${start}&end=${end}`);
      assert.equal(part.text, quote, where);
      assert.equal(citation.sha256, sha256(quote), where);
      assert.equal(verified, true, where);
      count += 1;
      if (first_line === 0) continue;
      const filename = sources.find((source) => source.source_id === source_id)?.filename ?? '';
      const lines = String(files[filename])
        .split(/\r\n?|\n/)
        .slice(first_line - 1, last_line)
        .join(' ');
      assert.ok(letters(lines).includes(letters(quote)), `${where} must be on lines ${first_line} to ${last_line}`);
    }
  }
  t.diagnostic(`${count} citations of ${pages.length} pages`);
  assert.ok(count > 15);
});

test('every block of a Markdown page is cited, whole and once', async () => {
  for (const { page_id, path, source_count } of pages) {
    const citations = await listAll<Citation>(owner, `${wiki}/pages/${page_id}/citations`);
    const filename = sources.find(({ source_id }) => source_id === citations[0]?.source_id)?.filename ?? '';
    if (source_count === 0 || !filename.endsWith('.md')) continue;
    const { body: page } = await owner.get(`${wiki}/pages/${page_id}`);
    const quotes = citations.map(({ quote }) => letters(quote)).filter((quote) => quote !== '');
    assert.deepEqual(quotes, blocksOf(page.markdown), path);
  }
});

test('a file whose text was read completely is covered completely and has no losses', async () => {
  for (const { source_id, filename } of sources) {
    const { body } = await owner.get(`${wiki}/sources/${source_id}/coverage`);
    assert.deepEqual([body.uncovered, body.covered], [[], body.length], filename);
    assert.deepEqual(
      body.losses.filter(({ kind }: { kind: string }) => kind === 'unaccounted'),
      [],
      filename,
    );
  }
});
