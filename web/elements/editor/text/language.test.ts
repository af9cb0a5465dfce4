import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdownText } from './language.ts';

/** The texts of the nodes of a kind. language.ts reads `depth` of a line and `input` of a block, which Lezer does not declare. */
function textsOf(name: string, text: string): string[] {
  const found: string[] = [];
  parseMarkdownText(text).iterate({
    enter: (node) => void (node.name === name && found.push(text.slice(node.from, node.to))),
  });
  return found;
}

test('a formula in a quote ends with the quote: lines of Lezer say their depth', () => {
  assert.deepEqual(textsOf('BlockMath', '> $$\n> a\n\nafter\n\n$$\nb\n$$\n'), ['$$\n> a', '$$\nb\n$$']);
});

test('front matter that begins with a comment needs its end: contexts of Lezer give what is parsed', () => {
  assert.deepEqual(textsOf('FrontMatter', '---\n# why\ntitle: x\n---\ntext\n'), ['---\n# why\ntitle: x\n---']);
  assert.deepEqual(textsOf('FrontMatter', '---\n# why\ntext\n'), []);
});
