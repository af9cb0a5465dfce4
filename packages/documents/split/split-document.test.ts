import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdown } from '@ibid/markdown/parse-markdown.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { ID_PREFIX } from '@ibid/markdown/safe-addresses.ts';
import fc from 'fast-check';
import type { Node, Parent } from 'mdast';
import { extent, longTest } from '../../../test/extent.ts';
import { textToMarkdown } from '../formats/text/text.ts';
import { linesOfBlock } from '../source-lines.ts';
import { blocksOf } from './blocks.ts';
import { type Part, split } from './split-document.ts';
import { windowsOf } from './windows.ts';

/** DIVIDE_RUNS: the number of random documents per property; without it the seed is fixed. */
const { DIVIDE_RUNS } = process.env;
const RUNS = DIVIDE_RUNS ? { numRuns: Number(DIVIDE_RUNS) } : { numRuns: extent(300, 60), seed: 1 };
const nothing = () => undefined;
const LENGTHS = { page: 60, part: 40, preface: 20, window: 30 };

const titles = fc.constantFrom(
  'A',
  'B',
  'Usage',
  'Usage',
  'Set *up*',
  '`code`',
  'Über',
  '',
  '[x]',
  '<a id="own"></a>C',
);
const inline = fc.constantFrom(
  'text',
  'a [link](#usage)',
  'see[^1]',
  'see[^two]',
  '[x][def]',
  '[def]',
  '[[Wiki]]',
  '<a href="#usage-1">u</a>',
  '[c](<#a>)',
  '**bold**',
  '$x$',
  '[y](#own)',
);
const fragment = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 4 }), titles)
      .map(([depth, title]) => `${'#'.repeat(depth)} ${title}`),
  },
  { weight: 4, arbitrary: fc.array(inline, { minLength: 1, maxLength: 4 }).map((words) => `Some ${words.join(' ')}`) },
  titles.map((title) => `Title ${title}\n===`),
  fc.constantFrom(
    '```\n# no\n\ntext\n```',
    '~~~ md\n# no\n\n# no\n~~~',
    '````\n```\n\n# no\n````',
    '<!-- x\n\n# no\n\n-->',
    '<pre>\n\n# no\n\n</pre>',
    '<div>\n# no\n</div>',
    '<div>\n\n# yes\n\n</div>',
    '$$\n# no\n\n# no\n$$',
    '> # no\n> text',
    '- item\n\n  # no\n\n- other',
    '- ```\n  # no\n\n  # no\n  ```',
    '1. one\n2. two\n\n   text',
    '| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |',
    '    # no\n\n    code',
    '\n[^1]: A note.\n\nEnd.',
    '\n[^two]: Two [x][def].\n\n    # in a note\n\nEnd.',
    '\n[def]: https://example.com "T"',
    '\n[def]: #usage',
    '---',
    '***',
    '<a name="usage"></a>',
    '<script>\n\n# no\n\n</script>',
    '```\nnever closed',
    '<!-- never closed',
    '$$ x $$',
    '\\# no',
    ' # indented',
  ),
);
/** Lists, tables and quotes that may continue in another window, and text that looks like them. */
const rows = fc.constantFrom(
  '- a\n- b\n- c',
  '- a\nlazy\n- b',
  '- a\n\n\n- b\n-\n- c\n\n  d',
  '- ```\nno item\n- b\n- c',
  '- > a\nlazy\n- b',
  '- | a |\n  | - |\n- b\n| a |\n| - |',
  '* a\n* b\n- c\n- d\n+ e',
  ' - a\n- b\n - c',
  '1. a\n1. b\n3. c',
  '2. a\n3) b\n4) c',
  'words\n2. a\n3. b\n4. c',
  '[^3]: x\n- b\n- c',
  '> - a\n> - b\n- c\n- d',
  '* * *\n- a\n- b\n***\n- c',
  '| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n| 5 |',
  '|a|\n|-|\n|1|\n|2|\nrow\n|3|',
  '|a|b|\n|-|\n|1|\n|2|',
  '|a\\|b|\n|:-:|\n|`1|2`|\n|2|\n# no row\n|3|',
  '|a|\n|-|\n|1|\n|-|\n|-|\n|2|',
  'words\n|a|\n|-|\n|1|\n|2|',
  '> a\n>\n> b\n>\n> # c\n> d\n>\n> e',
  '> ```\n>\n> x\n>\n> y\n> ```\n>\n> z',
  '> - a\n>\n> b\n>\n>   c\n>\n> d',
  '> a\nlazy\n>\n> b\n>\n> c',
  '>a\n>\n>b\n> \n>  c\n\n> d\n>\n> e',
  '> <pre>\n>\n> x\n>\n> </pre>\n>\n> y',
  '> > a\n>\n> b\n>\n> > c\n> d',
);

const anything = documentsOf(fc.oneof(fragment, rows));

function documentsOf(fragment: fc.Arbitrary<string>) {
  return fc
    .tuple(
      fc.constantFrom('', '---\ntitle: x\n---\n'),
      fc.array(fc.tuple(fragment, fc.constantFrom('\n', '\n\n', '\n\n\n')), { minLength: 1, maxLength: 25 }),
    )
    .map(
      ([front, fragments]) =>
        front + fragments.map(([text, gap]) => text + (/^\n\[/.test(text) ? '\n\n' : gap)).join(''),
    );
}

test('a document parsed in windows has the same blocks as parsed at once', () => {
  fc.assert(
    fc.property(anything, (markdown) => {
      const whole = parseMarkdown(markdown).children.map((node: Node) => [
        node.type,
        node.position?.end.offset,
        itemsOf(node).map(({ position }) => position?.start.line),
      ]);
      const pieces = blocksOf(markdown, 1, nothing);
      assert.deepEqual(
        pieces.map(({ type, end, items }) => [
          type,
          end,
          items.map(({ start }) => markdown.slice(0, start).split('\n').length),
        ]),
        whole,
      );
    }),
    RUNS,
  );
});

test('lists, tables and quotes of megabytes are parsed in short windows, so that each stays within its time limit', () => {
  const line = 'a line of some words, and another few of them';
  for (const item of [
    `- ${line}\n`,
    `- ${line}\n\n`,
    `1. ${line}\n`,
    `* ${line}\n  * ${line}\n\n    ${line}\n`,
    `| ${line} |\n`,
    `> ${line}\n>\n`,
  ]) {
    const head = item.startsWith('|') ? '| head |\n| :-- |\n' : '';
    const markdown = head + item.repeat(3_500_000 / item.length);
    const lengths = [...windowsOf(markdown, 2 ** 15)].map(({ start, end }) => end - start);
    assert.ok(Math.max(...lengths) < 2 ** 15 + 2 * item.length, item);
    assert.equal(
      lengths.reduce((sum, length) => sum + length, 0),
      markdown.length,
    );
  }
});

longTest('the text that each piece repeats is short, or the block is not split', () => {
  const long = 'x'.repeat(20_000);
  for (const markdown of [
    `| ${long} |\n| - |\n${'| row |\n'.repeat(50_000)}`,
    `\`\`\` ${long}\n${'line\n'.repeat(60_000)}\`\`\`\n`,
  ]) {
    const parts = split({ markdown }, 'Title');
    assert.equal(
      parts.reduce((sum, part) => sum + part.markdown.length, 0),
      markdown.length,
    );
  }
});

function itemsOf(node: Node): Node[] {
  const holds = ['list', 'table', 'blockquote'].includes(node.type);
  return holds ? (node as Parent).children : [];
}

function textsOf(parts: readonly Part[]) {
  return parts.map(({ markdown }) => renderMarkdown(markdown));
}

/** Leaves out footnotes, which are repeated in each part that refers to them. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => !/^(?:A note\.|Two |in a note)/.test(line) && line !== '');
}

test('the parts of a document contain its text in order', () => {
  fc.assert(
    fc.property(anything, (markdown) => {
      const parts = split({ markdown }, 'Title', nothing, { ...LENGTHS, page: 60 });
      for (const [i, part] of parts.entries()) {
        assert.ok(i === 0 || part.markdown !== '' || parts.some(({ parent }) => parent === i), 'no page is empty');
        assert.ok(part.parent < i);
      }
      const whole = renderMarkdown(markdown);
      const rendered = textsOf(parts);
      // A split table repeats its head on each page.
      const once = (lines: string[]) => lines.filter((line) => !/^\|?a(?:[ |]b)?\|?$/.test(line));
      assert.deepEqual(once(rendered.flatMap(({ text }) => linesOf(text))), once(linesOf(whole.text)));
      const headings = ({ outline }: typeof whole) => outline.filter(({ text }) => text !== 'in a note');
      const there = rendered.flatMap((part, i) =>
        headings(part).map(({ text, anchor }) => ({ text, anchor, part: i })),
      );
      assert.deepEqual(
        there.map(({ text }) => text),
        headings(whole).map(({ text }) => text),
      );
      for (const [i, { links }] of parts.entries()) {
        for (const { fragment, part, anchor } of links) {
          const at = headings(whole).findIndex((heading) => heading.anchor === fragment);
          if (at >= 0) assert.deepEqual([there[at]?.part, there[at]?.anchor], [part, anchor]);
          assert.ok(rendered[part]?.html.includes(`id="${anchor}"`), anchor);
          assert.ok(fragment.startsWith(ID_PREFIX) && (part !== i || anchor !== fragment));
        }
      }
      // Links to headings lead to their current part.
      for (const [i, { html }] of rendered.entries()) {
        for (const [, fragment = ''] of html.matchAll(/href="#(h-(?!fn)[^"]*)"/g)) {
          const at = headings(whole).findIndex((heading) => heading.anchor === fragment);
          if (at < 0) continue;
          const { part = i, anchor = fragment } = parts[i]?.links.find((link) => link.fragment === fragment) ?? {};
          assert.deepEqual([part, anchor], [there[at]?.part, there[at]?.anchor], fragment);
        }
      }
    }),
    RUNS,
  );
});

test('a document with pages is split between them, and each part knows the pages of its blocks', () => {
  const block_pages = Array.from({ length: 30 }, (_, i) => ({
    first_page: Math.floor(i / 3) + 1,
    last_page: Math.floor(i / 3) + 1,
  }));
  const markdown = block_pages.map((_, i) => `Block ${i}.\n`).join('\n');
  const [index, ...parts] = split({ markdown, block_pages }, 'Paper', nothing, { ...LENGTHS, page: 100, part: 60 });
  assert.deepEqual([index?.markdown, index?.block_pages], ['', []]);
  assert.deepEqual(
    parts.map(({ name }) => name),
    ['pages-1-3', 'pages-4-6', 'pages-7-9', 'page-10'],
  );
  assert.equal(parts[1]?.title, 'Pages 4–6');
  assert.deepEqual(
    parts.flatMap((part) => part.block_pages),
    block_pages,
  );
  const [, first] = split({ markdown, block_pages: block_pages.slice(1) }, 'Paper', nothing, {
    ...LENGTHS,
    page: 100,
    part: 60,
  });
  assert.deepEqual([first?.title, first?.block_pages], ['Paper (1)', []], 'pages of other blocks say nothing');
});

longTest('thousands of sections with the same title get unique names, and links lead to the right one', () => {
  const markdown = Array.from({ length: 5_000 }, (_, i) => `# Usage\n\n[next](#usage-${i + 1})\n`).join('\n');
  const [index, ...parts] = split({ markdown }, 'Manual', nothing, { ...LENGTHS, window: 2 ** 17 });
  assert.equal(index?.markdown, '');
  assert.equal(new Set(parts.map(({ name }) => name)).size, 5_000);
  assert.deepEqual(parts[41]?.links, [{ fragment: 'h-usage-42', part: 43, anchor: 'h-usage' }]);
});

/**
 * Asserts that the lines of the parts equal the lines of the file that they are mapped to; splitting may add fences.
 */
function assertOnLines(parts: readonly Part[], lines: readonly string[]): void {
  for (const { markdown, lines: runs } of parts) {
    for (const [i, line] of markdown.split('\n').entries()) {
      // Numbers of list items may change, so that the list continues.
      const words = line.replace(/\\$|^\d+[.)]/g, '').trim();
      if (words === '' || /^(?:`{3,}|~{3,})$/.test(words)) continue;
      const { first_line } = linesOfBlock({ first_line: i + 1, last_line: i + 1 }, runs);
      assert.ok(lines[first_line - 1]?.includes(words), `${words} is not on line ${first_line}`);
    }
  }
}

test('each line of a part equals the line of the file that it is mapped to', () => {
  fc.assert(
    fc.property(anything, (markdown) => {
      assertOnLines(split({ markdown }, 'Title', nothing, LENGTHS), markdown.split('\n'));
    }),
    RUNS,
  );
  const words = fc.integer({ min: 1000, max: 9999 }).map((n) => `word${n}`);
  const block = fc
    .tuple(fc.constantFrom('', '', '    '), fc.array(words, { minLength: 1, maxLength: 9 }))
    .map(([indent, each]) => each.map((word) => `${indent}${word}`).join('\n'));
  const texts = fc.array(fc.tuple(block, fc.constantFrom('\n\n', '\n \n\n')), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(texts, (blocks) => {
      const text = blocks.flat().join('');
      assertOnLines(split(textToMarkdown(text), 'Title', nothing, LENGTHS), text.split('\n'));
    }),
    RUNS,
  );
});

longTest('thousands of short sections with the same title are grouped into a few pages', () => {
  const markdown = '# Same\n\ntext\n\n'.repeat(25_000);
  const parts = split({ markdown }, 'Sections');
  assert.ok(parts.length > 2 && parts.length < 10, `${parts.length} parts`);
  assert.equal(
    parts.map((part) => part.markdown.match(/# Same/g)?.length ?? 0).reduce((a, b) => a + b, 0),
    25_000,
  );
  assert.equal(new Set(parts.map(({ parent, name }) => `${parent} ${name}`)).size, parts.length);
});
