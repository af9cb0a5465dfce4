import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { listAll } from '../../../test/list-all.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { verificationOf } from '../../../test/verification-of.ts';
import type { Citation } from '../records/schema.ts';

const world = await sharedWorld();
const owner = await world.owner();

interface Page {
  page_id: string;
  path: string;
  title: string;
  revision: number;
  stale: boolean;
  parent_page_id: string;
  markdown: string;
  html: string;
  source_count: number;
}

async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Books' });
  const at = `/v1/wikis/${body.wiki_id}`;
  return {
    at,
    wiki_id: body.wiki_id as string,
    page: async (path: string): Promise<Page> => (await owner.get(`${at}/pages/path/${path}`)).body,
    pages: () => listAll<Page>(owner, `${at}/pages`),
    paths: async () => (await listAll<Page>(owner, `${at}/pages`)).map(({ path }) => path).sort(),
    async upload(files: Record<string, string | Uint8Array>): Promise<string> {
      const upload = await world.upload(owner, body.wiki_id, files);
      assert.equal(upload.body.status, 'completed', JSON.stringify(upload.body));
      return upload.body.summary;
    },
    async edit(path: string, change: Record<string, unknown>) {
      const { page_id, revision } = await this.page(path);
      const answer = await owner.patch(`${at}/pages/${page_id}`, { base_revision: revision, ...change });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    },
    /** Asserts that every block of every page has a citation, and that every word of the source is on a page. */
    async assertCited() {
      const pages = await this.pages();
      let blocks = 0;
      for (const { page_id, path } of pages) {
        for (const { source_id, start, end, quote, sha256, verified } of await listAll<Citation>(
          owner,
          `${at}/pages/${page_id}/citations`,
        )) {
          assert.ok(verified && hash('sha256', quote) === sha256 && end - start === quote.length, `${path}: ${quote}`);
          assert.ok(source_id);
          blocks += 1;
        }
      }
      for (const { source_id, page_count } of await listAll<{ source_id: string; page_count: number }>(
        owner,
        `${at}/sources`,
      )) {
        if (page_count === 0) continue;
        const verification = await verificationOf(owner, `${at}/sources/${source_id}`);
        assert.deepEqual([verification.verified, verification.stale_pages], [verification.citations, []]);
        const { body: coverage } = await owner.get(`${at}/sources/${source_id}/coverage`);
        assert.deepEqual(coverage.uncovered, []);
      }
      return blocks;
    },
  };
}

/** Returns a paragraph of `count` words that depend on the seed. */
function words(seed: string, count: number): string {
  return Array.from({ length: count }, (_, i) => `${seed}${i % 97}`).join(' ');
}

const BOOK = `---
title: The book
---

# Book

What it is about[^all], see [the third](#chapter-3) and [usage](#usage-1).

## Chapter 1

${words('one', 18_000)}

### Usage

Once[^one], as in [the book][home].

## Chapter 2

\`\`\`
## No chapter
\`\`\`

> ## Nor here

<!--

## Nor in a comment

-->

${words('two', 18_000)} [back](#chapter-1), <a href="#chapter-3">on</a>, [here](#usage-1), [first][]

### Usage

Twice[^all].

[first]: #usage

## Chapter 3

${words('three', 18_000)}

[home]: https://example.com "Home"
[^all]: All of it.
[^one]: Only the first.
`;

test('a document that is too long for one page becomes an index and a page per section', async () => {
  const wiki = await newWiki();
  assert.ok(BOOK.length > 250_000);
  assert.equal(await wiki.upload({ 'Book.md': BOOK }), '1 file: 1 new source, 4 new pages.');
  assert.deepEqual(await wiki.paths(), ['book', 'book/chapter-1', 'book/chapter-2', 'book/chapter-3']);
  const index = await wiki.page('book');
  assert.equal(
    index.markdown,
    `---
title: The book
---

# Book

What it is about[^all], see [the third](book/chapter-3#chapter-3) and [usage](book/chapter-2#usage).

[^all]: All of it.

- [Chapter 1](book/chapter-1)
- [Chapter 2](book/chapter-2)
- [Chapter 3](book/chapter-3)
`,
  );
  assert.equal(index.title, 'The book');
  const [one, two, three] = await Promise.all([1, 2, 3].map((n) => wiki.page(`book/chapter-${n}`)));
  assert.deepEqual([one?.title, two?.title, three?.title], ['Chapter 1', 'Chapter 2', 'Chapter 3']);
  assert.match(
    one?.markdown ?? '',
    /^## Chapter 1\n[\s\S]*\[the book\]\[home\]\.\n\n\[home\]: https:\/\/example\.com "Home"\n\n\[\^one\]: Only the first\.\n$/,
  );
  assert.match(one?.html ?? '', /href="https:\/\/example\.com"/);
  assert.match(
    two?.html ?? '',
    /href="chapter-1#h-chapter-1"[\s\S]*href="chapter-3#h-chapter-3"[\s\S]*href="#h-usage"[\s\S]*href="chapter-1#h-usage"/,
  );
  assert.match(two?.html ?? '', /All of it/);
  assert.doesNotMatch(three?.markdown ?? '', /All of it|example\.com/);
  assert.ok((await wiki.assertCited()) > 15);
  const backlinks = await listAll<Page>(owner, `${wiki.at}/pages/${three?.page_id}/backlinks`);
  assert.deepEqual(backlinks.map(({ path }) => path).sort(), ['book', 'book/chapter-2']);
});

test('uploading a document again revises exactly the changed sections, and merges them with edits', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'Book.md': BOOK });
  await wiki.edit('book/chapter-2', { markdown: `${(await wiki.page('book/chapter-2')).markdown}\nBy hand.\n` });
  const before = await wiki.pages();
  assert.match(
    await wiki.upload({ 'Book.md': BOOK }),
    /^1 file: 0 new sources, 1 file already known \(same bytes\), 0 new pages\.$/,
  );
  assert.deepEqual(await wiki.pages(), before, 'the same bytes change nothing');
  const revisions = async () => Object.fromEntries((await wiki.pages()).map(({ path, revision }) => [path, revision]));
  assert.deepEqual(await revisions(), { book: 1, 'book/chapter-1': 1, 'book/chapter-2': 2, 'book/chapter-3': 1 });

  const once = BOOK.replace('Once[', 'Only once[');
  assert.match(await wiki.upload({ 'Book.md': once }), /1 new source, 0 new pages, 1 page updated\.$/);
  assert.deepEqual(await revisions(), { book: 1, 'book/chapter-1': 2, 'book/chapter-2': 2, 'book/chapter-3': 1 });

  await wiki.edit('book/chapter-3', { slug: 'third' });
  const twice = once
    .replace('Twice[', 'Only twice[')
    .replace('## Chapter 3\n', '## New\n\nNew here.\n\n## Chapter 3\n');
  assert.match(
    await wiki.upload({ 'Book.md': twice }),
    /1 new page, 1 page updated, 1 page merged with manual edits\.$/,
  );
  assert.deepEqual(await revisions(), {
    book: 2,
    'book/chapter-1': 2,
    'book/chapter-2': 3,
    'book/new': 1,
    'book/third': 1,
  });
  const merged = await wiki.page('book/chapter-2');
  assert.match(merged.markdown, /Only twice[\s\S]*\nBy hand\.\n$/);
  assert.match(
    (await wiki.page('book')).markdown,
    /chapter-2\)\n- \[New\]\(book\/new\)\n- \[Chapter 3\]\(book\/third\)\n$/,
  );
  await wiki.upload({ 'other.md': '# Other\n' });
  await wiki.assertCited();
});

longTest('the page of a removed section stays and is stale until the section returns', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'Book.md': BOOK });
  await wiki.edit('book/chapter-1', { markdown: '## Chapter 1\n\nMine.\n' });
  const [one = '', two = ''] = [/## Chapter 1[\s\S]*?(?=## Chapter 2)/, /## Chapter 2[\s\S]*?(?=## Chapter 3)/].map(
    (part) => part.exec(BOOK)?.[0],
  );
  const without = `${BOOK.replace(one, '').replace(two, '')}\n## Chapter 4\n\n${words('four', 30_000)}\n`;
  assert.match(
    await wiki.upload({ 'Book.md': without }),
    /1 new page, 2 pages updated, 2 pages of removed sections \(now stale\)\.$/,
  );
  const stale = async () => (await wiki.pages()).filter((page) => page.stale).map(({ path }) => path);
  assert.deepEqual(await stale(), ['book/chapter-1', 'book/chapter-2']);
  assert.equal((await wiki.page('book/chapter-1')).markdown, '## Chapter 1\n\nMine.\n', 'what people wrote is kept');
  assert.doesNotMatch(
    await wiki.upload({ 'Book.md': `${without}\nMore.\n` }),
    /removed sections/,
    'only the first summary names it',
  );
  assert.match(await wiki.upload({ 'Book.md': BOOK }), /1 page of removed sections/);
  assert.deepEqual(await stale(), ['book/chapter-4'], 'what is there again is stale no more');
  assert.equal((await wiki.page('book/chapter-1')).markdown, '## Chapter 1\n\nMine.\n');
});

longTest('a document that becomes long or short loses no text', async () => {
  const wiki = await newWiki();
  const short = '# Book\n\nPreface.\n\n## Chapter 1\n\nShort.\n\n## Chapter 2\n\nShort, too.\n';
  const long = short.replace('Short.', words('one', 50_000));
  await wiki.upload({ 'book.md': short });
  assert.deepEqual(await wiki.paths(), ['book']);
  await wiki.edit('book', { markdown: short.replace('Preface', 'My preface').replace('Short.', 'Mine.') });
  assert.match(await wiki.upload({ 'book.md': long }), /2 new pages, 1 page left unchanged because of manual edits/);
  const kept = await wiki.page('book');
  assert.deepEqual([kept.stale, /Mine\./.test(kept.markdown)], [true, true]);
  assert.deepEqual(await wiki.paths(), ['book', 'book/chapter-1', 'book/chapter-2']);
  await wiki.edit('book', {
    markdown: '# Book\n\nMy preface.\n\n- [Chapter 1](book/chapter-1)\n- [Chapter 2](book/chapter-2)\n',
  });
  await wiki.edit('book/chapter-2', { markdown: '## Chapter 2\n\nMine.\n' });
  assert.match(await wiki.upload({ 'book.md': short }), /2 pages of removed sections/);
  const pages = Object.fromEntries((await wiki.pages()).map((page) => [page.path, page.stale]));
  assert.deepEqual(pages, { book: false, 'book/chapter-1': true, 'book/chapter-2': true });
  assert.match((await wiki.page('book')).markdown, /My preface\.\n\n## Chapter 1\n\nShort\.\n/);
  assert.equal((await wiki.page('book/chapter-2')).markdown, '## Chapter 2\n\nMine.\n');
});

longTest('sections with equal titles, or with titles of existing pages, each get their own page', async () => {
  const wiki = await newWiki();
  await owner.post(`${wiki.at}/pages`, { title: 'Guide', slug: 'guide', markdown: 'By hand.' });
  const { page_id } = await wiki.page('guide');
  await owner.post(`${wiki.at}/pages`, {
    title: 'Usage',
    slug: 'usage',
    parent_page_id: page_id,
    markdown: 'By hand.',
  });
  const long = `# Guide\n\n${['Usage', 'Setup', 'Usage', 'Usage!', '世界'].map((title) => `## ${title}\n\n${words(title, 15_000)}\n`).join('\n')}`;
  await wiki.upload({
    'guide/README.md': long,
    'guide/setup.md': '# Setup\n\n[all](README.md)\n',
    'guide/usage/a.md': '# A\n',
  });
  const pages = await wiki.pages();
  const titles = Object.fromEntries(pages.map(({ path, title }) => [path, title]));
  const index = pages.find(({ title, path }) => title === 'Guide' && path !== 'guide')?.path ?? '';
  const { markdown } = await wiki.page(index);
  const links = [...markdown.matchAll(/\]\(([^)]*)\)/g)].map(
    ([, address]) => titles[`${index.slice(0, index.lastIndexOf('/') + 1)}${address}`],
  );
  assert.deepEqual(links, ['Usage', 'Setup', 'Usage', 'Usage!', '世界'], JSON.stringify(titles));
  assert.equal(new Set(pages.map(({ path }) => path)).size, 5 + 1 + 2 + 1 + 1);
  assert.equal((await wiki.page('guide/usage')).markdown, 'By hand.');
  await wiki.assertCited();
});

longTest('a section that is too long is divided further, even between blocks without headings', async () => {
  const wiki = await newWiki();
  const paragraphs = (seed: string, n: number) =>
    Array.from({ length: n }, (_, i) => words(`${seed}${i}-`, 400)).join('\n\n');
  const markdown = `# Part 1\n\nLead.\n\n## A\n\n${paragraphs('a', 60)}\n\n## B\n\n${paragraphs('c', 60)}\n\n# Part 2\n\n${paragraphs('b', 200)}\n`;
  await wiki.upload({
    'book.md': markdown,
    'plain.txt': `${words('x', 40)}\n`.repeat(3_000),
    'list.md': `1. ${words('y', 40)}\n`.repeat(3_000),
  });
  const pages = await wiki.pages();
  const titles = Object.fromEntries(pages.map(({ path, title }) => [path, title]));
  assert.deepEqual(
    Object.entries(titles)
      .filter(([path]) => path.startsWith('book'))
      .sort(),
    [
      ['book', 'book'],
      ['book/part-1', 'Part 1'],
      ['book/part-1/a', 'A'],
      ['book/part-1/b', 'B'],
      ['book/part-2', 'Part 2'],
      ...Array.from({ length: 6 }, (_, i) => [`book/part-2/part-${i + 1}`, `Part 2 (${i + 1})`]),
    ],
  );
  assert.match(
    (await wiki.page('book/part-1')).markdown,
    /^# Part 1\n\nLead\.\n\n- \[A\]\(part-1\/a\)\n- \[B\]\(part-1\/b\)\n$/,
  );
  for (const name of ['plain', 'list']) {
    assert.ok(
      titles[`${name}/part-1`] === `${name} (1)` && titles[`${name}/part-4`] !== undefined,
      JSON.stringify(titles),
    );
  }
  assert.match((await wiki.page('plain/part-2')).html, /^<pre><code>/);
  assert.match((await wiki.page('list/part-2')).html, /^<ol/);
  await wiki.assertCited();
});

/** Returns a block of 800 items that is too long for one page; one item contains `change`. */
function hugeBlock(kind: string, change: string): string {
  const text = (i: number) => (i === 400 ? change : `${words(`${kind}${i}x`, 36)} [link](#a)`);
  const items = Array.from({ length: 800 }, (_, i) => text(i));
  if (kind === 'list') return items.map((item) => `1. ${item}\n`).join('');
  if (kind === 'nested') return items.map((item) => `- ${item}\n  - below\n\n    more\n`).join('');
  if (kind === 'table') return `| Head | Of it |\n| - | - |\n${items.map((item) => `| ${item} | x |\n`).join('')}`;
  if (kind === 'code') return `~~~js\n${items.map((item) => `${item}\n`).join('')}~~~\n`;
  return items.map((item) => `> ${item}\n>\n`).join('');
}

longTest(
  'a block too long for a page is divided between its items and keeps its type, and a change revises one page',
  async () => {
    for (const [kind, element] of [
      ['list', /^<ol start="(\d+)">/],
      ['nested', /^<ul>[\s\S]*<ul>/],
      ['table', /^<table>\n<thead>\n<tr>\n<th>Head<\/th>/],
      ['code', /^<pre><code class="language-js">/],
      ['quote', /^<blockquote>/],
    ] as const) {
      const wiki = await newWiki();
      await wiki.upload({ 'huge.md': hugeBlock(kind, 'as it was') });
      const parts = (await wiki.pages()).filter(({ path }) => path.startsWith('huge/'));
      assert.ok(parts.length > 2, `${kind} is divided`);
      for (const { path } of parts.slice(1)) assert.match((await wiki.page(path)).html, element, `${kind}: ${path}`);
      const [source] = await listAll<{ source_id: string }>(owner, `${wiki.at}/sources`);
      const { body: text } = await owner.get(`${wiki.at}/sources/${source?.source_id}/text`);
      assert.equal(text.text.split('Head Of it').length, kind === 'table' ? 2 : 1, 'the head of a table is there once');
      assert.match(
        await wiki.upload({ 'huge.md': hugeBlock(kind, 'as it is now, which is a bit longer') }),
        /1 new source, 0 new pages, 1 page updated\.$/,
        kind,
      );
      await wiki.assertCited();
    }
  },
);

longTest('a divided numbered list continues its numbering, whatever numbers the file has', async () => {
  const wiki = await newWiki();
  const markdown = `# L\n\n${hugeBlock('list', 'x').replace('1. ', '7. ')}`;
  await wiki.upload({ 'list.md': markdown });
  const lines = markdown.split('\n');
  const parts = (await wiki.pages()).filter(({ path }) => path.startsWith('list/'));
  for (const { page_id, path } of parts) {
    const [, number = ''] = /<ol start="(\d+)">/.exec((await wiki.page(path)).html) ?? [];
    const [first] = (await listAll<Citation>(owner, `${wiki.at}/pages/${page_id}/citations`)).filter(
      ({ quote }) => quote !== 'L',
    );
    assert.equal(Number(number), (first?.first_line ?? 0) - 3 + 7, `${path} goes on`);
    assert.ok(lines[(first?.first_line ?? 0) - 1]?.includes(first?.quote.slice(0, 60) ?? '-'));
  }
});
