import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { markdownLosses } from '@ibid/documents/formats/markdown/markdown-losses.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { extent } from './extent.ts';
import { dialectText } from './fuzz/dialect-texts.ts';
import { randomNumbers } from './random-numbers.ts';
import { corpus } from './world.ts';

const TEXTS = extent(40_000, 3_000);
const SEED = Number(process.env.SEED || Date.now() % 2 ** 31);

/** Returns only the letters and digits of a text. */
function lettersOf(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

const html = unified().use(rehypeParse, { fragment: true });

function decoded(markdown: string): string {
  return markdown.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,31});/gi, (reference) => {
    const [first] = html.parse(reference).children;
    return first?.type === 'text' ? first.value : reference;
  });
}

/** Words that a page adds: the kind of an admonition whose text does not name it. */
const ADDED = 'note';

/** Returns the words of a page that are missing from its text. */
function added(markdown: string): string[] {
  const source = lettersOf(markdown) + lettersOf(decoded(markdown)) + ADDED;
  return wordsOf(renderMarkdown(markdown).text).filter((word) => !source.includes(word));
}

/** Returns the words of a text that are missing from both its page and its losses. */
function missing(markdown: string, words: readonly string[]): string[] {
  const page = renderMarkdown(markdown);
  const losses = markdownLosses(markdown).map(({ excerpt }) => excerpt);
  const fields = [page.title, page.description, ...page.tags, ...page.properties.map(({ value }) => value)];
  const shown = lettersOf([page.html, ...fields, ...losses].join(' '));
  return words.filter((word) => !shown.includes(word));
}

test('a page has the words of its text and no others, for any dialect in any block', (t) => {
  t.diagnostic(`SEED=${SEED}`);
  const numbers = randomNumbers(SEED);
  for (let i = 0; i < TEXTS; i += 1) {
    const { markdown, words } = dialectText(numbers);
    assert.deepEqual(
      { added: added(markdown), missing: missing(markdown, words) },
      { added: [], missing: [] },
      `SEED=${SEED}, text ${i}:\n${markdown}`,
    );
  }
});

async function collections(): Promise<[name: string, markdown: string][]> {
  const texts: [string, string][] = [];
  for await (const name of glob('{*.md,{docs,src,bench,deploy}/**/*.md}', { cwd: PACKAGE }))
    texts.push([name, await readFile(new URL(name, PACKAGE), 'utf8')]);
  for (const folder of extent(['documents', 'tldr/common', 'tldr/ja'], ['tldr/ja'])) {
    for (const [name, bytes] of Object.entries((await corpus(folder)) ?? {}))
      if (name.endsWith('.md')) texts.push([`${folder}/${name}`, bytes.toString('utf8')]);
  }
  return texts;
}

test('every word of a page is a word of its text, for the documents of this repository and the collections', async (t) => {
  const texts = await collections();
  for (const [name, markdown] of texts) assert.deepEqual(added(markdown), [], name);
  t.diagnostic(`${texts.length} texts`);
});
