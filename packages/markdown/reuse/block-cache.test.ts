import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { parseMarkdown } from '../parse-markdown.ts';
import { type RenderedPage, renderPage } from '../render.ts';
import { openBlockCache } from './block-cache.ts';

const BLOCK_RUNS = process.env.BLOCK_RUNS ?? extent(800, 100);

/** Blocks, and the first and last lines of blocks that continue over empty lines. */
const PIECES = [
  'words',
  'Words of *two*\nlines',
  '# Heading',
  'Heading\n===',
  '- item',
  '- item\n\n  more of it',
  '* one\n* two',
  '1. first\n   ```\n   code',
  '   ```',
  '```',
  '```js\nconst a = 1;\n\nb\n```',
  '~~~',
  '    indented',
  '  two',
  '> quote',
  '> ```\n> x',
  '> - a\n>\n> b',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '|-|',
  '$$\nx\n\ny\n$$',
  '$$',
  'words\n$$',
  '- $$',
  '> $$\n> x\n> $$',
  '<div>\n$$',
  '<pre>',
  '</pre>',
  '<div>',
  '<!-- a',
  '-->',
  '- <pre>',
  '***',
  '---',
  '+++',
  '**bold** and `code`',
  '**',
  '* ',
  '*',
  'see [[Page|it]] and [a](b "c") ![d](e)',
  '[label]',
  '[label]: /target',
  'a note[^1]',
  '[^1]: the note',
  'at https://example.com or me@example.com',
  'https&#58;//example.com/a and www.example.com',
  ':::note Title\n\ninside\n\n:::',
  '!!! note\n    inside',
  '{% hint style="info" %}\ninside\n{% endhint %}',
  '{% endhint %}',
  '%% a\n\ncomment %%',
  '<Tabs>\n<TabItem label="one">\n\ninside\n\n</TabItem>\n</Tabs>',
  'Term\n: what it is',
  'ends with an id ^abc1',
  '- [ ] task',
  '\\',
  '\0',
  'é漢字😀',
  '\ud83d',
  '\t',
  '',
];
const GAPS = ['\n', '\n\n', '\n\n', '\n\n', '\n\n\n', '\n \t\n', '\r\n\r\n', ''];

const document = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...GAPS)), { maxLength: 14 })
  .map((pieces) => pieces.flat());

/** Series of documents; each document replaces some pieces of the previous document. */
const edited = fc
  .tuple(
    document,
    fc.array(fc.tuple(fc.nat(28), fc.nat(2), fc.constantFrom(...PIECES, ...GAPS)), { minLength: 1, maxLength: 5 }),
  )
  .map(([first, edits]) => {
    const documents = [first];
    for (const [at, removed, piece] of edits) {
      const last = documents.at(-1) ?? [];
      documents.push(last.toSpliced(at % (last.length + 1), removed, piece));
    }
    return documents.map((pieces) => pieces.join(''));
  });

test('a text with cached blocks has the same tree and positions as a text that is parsed as a whole', () => {
  // The cache is small enough to evict entries, and keeps some of them from one series of edits to the next.
  const blocks = openBlockCache(2_000).of('wiki_1');
  fc.assert(
    fc.property(edited, (documents) => {
      for (const markdown of documents) {
        assert.deepEqual(parseMarkdown(markdown, blocks), parseMarkdown(markdown), JSON.stringify(markdown));
      }
    }),
    { numRuns: Number(BLOCK_RUNS) },
  );
});

test('a page rendered with cached blocks is the same page', () => {
  const blocks = openBlockCache();
  const render = (markdown: string, cache?: typeof blocks): RenderedPage =>
    renderPage({ wiki_id: 'wiki_1', markdown, page_path: 'folder/page', pagesByTarget: new Map() }, cache);
  const markdown = PIECES.filter((piece) => piece.isWellFormed() && !/\]:|\0|^(?:---|\+\+\+)/.test(piece)).join('\n\n');
  for (const text of [markdown, markdown, `First.\n\n${markdown}`, markdown.replace('words', 'other words')]) {
    assert.deepEqual(render(text, blocks), render(text));
  }
});

test('only the edited block is parsed, and the time this takes reveals nothing about other wikis', () => {
  const blocks = openBlockCache();
  const parse = (wiki_id: string, markdown: string) => {
    const parsed: string[] = [];
    blocks.of(wiki_id).parse(markdown, (part) => {
      parsed.push(part);
      return parseMarkdown(part);
    });
    return parsed;
  };
  const [first, second] = ['# One\n\nSome text.\n\n- a\n\nThe end.\n', '# One\n\nOther text.\n\n- a\n\nThe end.\n'];
  assert.deepEqual(parse('wiki_1', first), [first]);
  assert.deepEqual(parse('wiki_1', second), ['Other text.\n\n- a\n\n']);
  assert.deepEqual(parse('wiki_1', first), []);
  assert.deepEqual(parse('wiki_2', first), [first], 'nothing of another wiki');
});
