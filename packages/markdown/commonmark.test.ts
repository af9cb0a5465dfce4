import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { Element, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { renderMarkdown } from './render.ts';
import { sanitizeTree } from './safe-html.ts';

/** All examples of the CommonMark specification, from its own package. */
const { tests: EXAMPLES } = createRequire(import.meta.url)('commonmark-spec') as {
  tests: { number: number; markdown: string; html: string }[];
};

/** Examples whose output deviates from the specification, by reason. */
const DEVIATIONS: Record<string, number[]> = {
  'front matter at the top of a document is no part of its text': [96, 98],
  'addresses are links without <> too (GFM)': [602, 606, 608, 611, 612],
  'tags that would swallow the following text are shown as text (GFM)': [171, 173],
  'tags that no HTML has and that are never closed are text': [150, 201, 491, 524, 536, 613, 614, 615, 617, 623],
  'the first line break in raw <pre> is lost to the parser of HTML': [169],
  'the title of a picture that stands alone is its caption': [572],
  '[[…]] is a wiki link, unless the document defines it as a reference': [590],
};

const parser = unified().use(rehypeParse, { fragment: true }).freeze();

/** Attributes that are added to elements of the specification. */
const ADDED = ['id', 'rel', 'loading', 'referrerPolicy'];

/**
 * A tree of HTML as nested arrays, for comparison: attributes sorted and without added ones, highlighting removed, and
 * whitespace between blocks left out, which the specification calls insignificant.
 */
function normalized(tree: Root | Element): unknown[] {
  const nodes: unknown[] = [];
  const isPre = tree.type === 'element' && tree.tagName === 'pre';
  const add = (node: unknown) => {
    const last = nodes.length - 1;
    if (typeof node === 'string' && typeof nodes[last] === 'string') nodes[last] += node;
    else nodes.push(node);
  };
  for (const child of tree.children) {
    if (child.type === 'text') add(child.value);
    if (child.type === 'comment') add(['comment', child.value]);
    if (child.type !== 'element') continue;
    if (isHighlighting(child)) for (const node of normalized(child)) add(node);
    else {
      const attributes = Object.entries(child.properties).filter(([name]) => !ADDED.includes(name));
      add([child.tagName, attributes.sort(([a], [b]) => (a < b ? -1 : 1)), ...normalized(child)]);
    }
  }
  if (tree.type === 'root') trimEnds(nodes);
  if (isPre || (tree.type === 'element' && tree.tagName === 'code')) return nodes;
  return nodes.filter(
    (node) => typeof node !== 'string' || node.trim() !== '' || (node !== '' && !node.includes('\n')),
  );
}

/** If unsafe tags are removed, at most the line breaks around them remain. */
function trimEnds(nodes: unknown[]): void {
  const last = nodes.length - 1;
  if (typeof nodes[0] === 'string') nodes[0] = nodes[0].trimStart();
  if (typeof nodes[last] === 'string') nodes[last] = nodes[last].trimEnd();
}

function isHighlighting({ tagName, properties }: Element): boolean {
  return tagName === 'span' && String(properties.className).startsWith('hljs-');
}

function isSame(a: Root, b: Root): boolean {
  return JSON.stringify(normalized(a)) === JSON.stringify(normalized(b));
}

test('every example of CommonMark 0.31.2 is rendered as specified, except where that is unsafe', (t) => {
  const equal: number[] = [];
  const safe: number[] = [];
  const other: number[] = [];
  for (const { number, markdown, html } of EXAMPLES) {
    // The specification writes tabs as arrows.
    const { html: written } = renderMarkdown(markdown.replaceAll('→', '\t'));
    const rendered = parser.parse(written.trim());
    const expected = html.replaceAll('→', '\t').trim();
    if (isSame(rendered, parser.parse(expected))) equal.push(number);
    else if (isSame(rendered, sanitizeTree(parser.parse(expected)))) safe.push(number);
    else other.push(number);
  }
  t.diagnostic(
    `CommonMark 0.31.2: ${EXAMPLES.length} examples, ${equal.length} equal, ${safe.length} sanitized, ${other.length} deviating`,
  );
  assert.equal(EXAMPLES.length, 652);
  const known = Object.values(DEVIATIONS).flat();
  assert.deepEqual(
    other,
    known.sort((a, b) => a - b),
    'an example that is rendered otherwise needs a reason in DEVIATIONS, one that is rendered as specified needs none',
  );
  assert.ok(equal.length >= 595, 'what is sanitized must be the few examples that hold HTML which no page may hold');
});
