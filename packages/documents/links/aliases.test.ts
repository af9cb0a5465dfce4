import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aliasesOf } from './aliases.ts';

test('the aliases of a page are read from its front matter and from Logseq properties', () => {
  for (const [text, names] of [
    ['---\naliases: [Short, "Other name"]\n---\ntext\n', ['Short', 'Other name']],
    ['---\r\naliases:\r\n  - Short\r\n  - 短い\r\n---\r\n', ['Short', '短い']],
    ['---\nalias: One, Two\ntitle: x\n---\n', ['One', 'Two']],
    ['alias:: Short, [[Other]]\ntags:: t\n\n- First\n', ['Short', 'Other']],
    ['tags:: t\nalias:: Short\n', ['Short']],
    ['aliases:: Short\n', ['Short']],
    ['text\nalias:: no\n', []],
    ['---\naliases: [a/b, "", "[[x"]\n---\n', []],
    ['---\naliases: [\n---\n', []],
    ['---\naliases:\n---\n', []],
    ['# Title\n', []],
  ] as const) {
    assert.deepEqual(aliasesOf(text), names, text);
  }
});
