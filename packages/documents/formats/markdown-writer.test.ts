import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import type { BlockContent, Paragraph, Text } from 'mdast';
import { markdownWriter } from './markdown-writer.ts';

const writer = markdownWriter({ tablePipeAlign: false });

const text = (value: string): Text => ({ type: 'text', value });
const paragraph = (value: string): Paragraph => ({ type: 'paragraph', children: [text(value)] });

/** Puts a text into each kind of block. */
const BLOCKS: Record<string, (value: string) => BlockContent> = {
  paragraph,
  quote: (value) => ({ type: 'blockquote', children: [paragraph(value)] }),
  heading: (value) => ({ type: 'heading', depth: 2, children: [text(value)] }),
  item: (value) => ({ type: 'list', children: [{ type: 'listItem', children: [paragraph(value)] }] }),
  cell: (value) => ({
    type: 'table',
    children: [{ type: 'tableRow', children: [{ type: 'tableCell', children: [text(value)] }] }],
  }),
};

test('text of a document is never mistaken for syntax of Markdown dialects: code, comments, boxes, ids, front matter', () => {
  const texts = [
    "import a from 'b'",
    'import { a, b } from "b";',
    'import {',
    "import 'a';",
    "import a, { b } from 'c'",
    'export const x = { y: 1 }',
    'export default function f() {',
    ':::note',
    ':::',
    '%%gone%% stays',
    '%%BoundingBox: 1 2',
    'a {/* gone */} b',
    'matches ^start',
    '^start',
    'Head {#id}',
    'Head { .class }',
    '+++',
    '---',
    '=== "Tab"',
    '!!! note',
    '[[Wiki]]',
    '<Tab>x</Tab>',
  ];
  for (const [kind, blockOf] of Object.entries(BLOCKS)) {
    for (const value of texts) {
      for (const before of [[], [paragraph('Before')]]) {
        const markdown = writer.stringify({
          type: 'root',
          children: [...before, blockOf(value), paragraph(value), paragraph('Behind')],
        });
        const words = [...before.map(() => 'Before'), value, value, 'Behind'];
        assert.equal(renderMarkdown(markdown).text.replace(/\s+/g, ' '), words.join(' '), `${kind}: ${markdown}`);
      }
    }
  }
});

test('lines between rules at the beginning are not front matter, and the word "import" in prose is not code', () => {
  const markdown = writer.stringify({
    type: 'root',
    children: [
      { type: 'thematicBreak' },
      paragraph('title: shown'),
      { type: 'thematicBreak' },
      paragraph('import duties from China'),
    ],
  });
  assert.equal(markdown, '***\n\ntitle: shown\n\n***\n\nimport duties from China\n');
  assert.equal(renderMarkdown(markdown).text, 'title: shown\nimport duties from China');
});
