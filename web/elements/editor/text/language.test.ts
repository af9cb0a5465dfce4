import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdownText } from './language.ts';

/**
 * Returns the texts of all nodes of a kind. language.ts reads `depth` of a line and `input` of a block, which Lezer
 * does not declare.
 */
function textsOf(name: string, text: string): string[] {
  const found: string[] = [];
  parseMarkdownText(text).iterate({
    enter: (node) => void (node.name === name && found.push(text.slice(node.from, node.to))),
  });
  return found;
}

test("a formula in a quote ends with the quote: Lezer's lines have a depth", () => {
  assert.deepEqual(textsOf('BlockMath', '> $$\n> a\n\nafter\n\n$$\nb\n$$\n'), ['$$\n> a', '$$\nb\n$$']);
});

test("front matter that begins with a comment must be closed: Lezer's contexts expose their input", () => {
  assert.deepEqual(textsOf('FrontMatter', '---\n# why\ntitle: x\n---\ntext\n'), ['---\n# why\ntitle: x\n---']);
  assert.deepEqual(textsOf('FrontMatter', '---\n# why\ntext\n'), []);
});
