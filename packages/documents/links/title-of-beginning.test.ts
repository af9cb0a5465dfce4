import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFile } from '../compile-file.ts';
import { TITLE_BYTES, titleOfBeginning } from './title-of-beginning.ts';

const PLAIN = 'x\n\n';

/** Files by name. A file without a title in its text gives its page its own name. */
const FILES: Record<string, string> = {
  'a.md': '# The *Title* of `it`\n\n# Other\n',
  'b.md': '---\nlang: en\n---\n\nText.\n\nThe title\n=========\n',
  'c.md': '---\r\ntitle: "In front"\r\n---\r\n# Not this\r\n',
  'd.md': '<!-- # no -->\n\n```\n# no\n```\n\n~~~\n# no\n~~~\n\n## Yes ##\n',
  'e.md': '<h1 align="center">\n  By <b>HTML</b>\n</h1>\n\n# No\n',
  'f.md': '#\n\n#hashtag\n\n- - -\n\nA list\n\n- x\n---\n\n# Title\n',
  'Home.md': 'Some text first.\n\n## Links\n',
  'All pages.md': '- ## Usage\n\t- text\n',
  'Quoted.md': '> # Quoted\n',
  'm.md': '## Part\n\nText\n\n# Title\n',
  'n.md': '<!-- x -->\n\n## Part\n\n### Sub\n',
  'o.md': 'Text\n\nTitle\n===\n',
  'p q.md': 'Text\n\nPart\n---\n\n1. item\n\n   ## In it\n',
  'some-file name.md': 'No heading.\n',
  'g.html': '<!doctype html><html><head><style>h1{}</style><title>R&amp;D\n of it</title><body><h1>No</h1>',
  'h.html': `${'<p>x</p>'}<h1>The <i>first</i></h1><h1>second</h1>`,
  'some_page.html': '<p>No heading.',
  'i.txt': '# no\n',
  'j.csv': '# no;x\n1;2\n',
  'k.bin': '<!doctype html><title>By content</title>x',
  l: '# no\n',
};

test('the title from the beginning of a file equals the title of the compiled page', () => {
  for (const [filename, text] of Object.entries(FILES)) {
    const file = { filename, content_type: '', bytes: Buffer.from(text) };
    const { title } = compileFile({ ...file, wiki_id: 'wiki_x', page_path: 'x' }, new Map());
    assert.equal(titleOfBeginning(file).title, title, filename);
  }
});

test("the title is a heading of level 1 or a heading at the beginning of the text; otherwise the file's name", () => {
  for (const [filename, text, expected] of [
    ['Home.md', 'Some text first.\n\n## Links\n', 'Home'],
    ['All pages.md', '- ## Usage\n\t- text\n', 'All pages'],
    ['All pages.md', '- # Usage\n\t- text\n\n1. # One\n', 'All pages'],
    ['Notes.md', '> # Quoted\n\n> [!NOTE]\n> # In a box\n\n:::tip\n# In a box\n:::\n', 'Notes'],
    ['Notes.md', '<details><summary>x</summary>\n\n# Folded\n\n</details>\n', 'Notes'],
    ['Notes.md', 'Text\n\n## Part\n\n# The title\n', 'The title'],
    ['Notes.md', '## The title\n\nText\n\n### Part\n', 'The title'],
    ['Notes.md', '![logo](x.png)\n\n### Part\n', 'Notes'],
    ['Notes.md', '---\ntags: [a]\n---\n\n### The title\n', 'The title'],
    ['Notes.md', '<div align="center">\n\n# The title\n\n</div>\n', 'The title'],
    ['Notes.md', '[^1] Text\n\n[^1]: # In a note\n', 'Notes'],
  ] as const) {
    const file = { filename, content_type: '', bytes: Buffer.from(text) };
    assert.equal(compileFile({ ...file, wiki_id: 'wiki_x', page_path: 'x' }, new Map()).title, expected, text);
  }
});

test("a project's name at the top of each of its files is not their title", () => {
  const banner = '<h1 align="center">Fastify</h1>\n\n';
  for (const [filename, below, expected] of [
    ['docs/Reference/Hooks.md', '## Hooks\n\nText.\n', 'Hooks'],
    ['docs/Reference/HTTP2.md', '## HTTP/2\n', 'HTTP/2'],
    ['docs/Reference/ContentTypeParser.md', '## `Content-Type` Parser\n', 'Content-Type Parser'],
    ['docs/Reference/Server.md', '## Factory\n', 'Server'],
    ['docs/Guides/Index.md', '## Guides Table Of Contents\n', 'Guides'],
    ['docs/index.md', '## Documentation\n', 'Fastify'],
    ['README.md', '## What it is\n', 'Fastify'],
    ['docs/Fastify-Plugins.md', '## Plugins\n', 'Fastify'],
    ['docs/setup.md', 'With words of its own.\n\n## Setup\n', 'Fastify'],
  ] as const) {
    for (const front of ['', '---\nlang: en\n---\n']) {
      const file = { filename, content_type: '', bytes: Buffer.from(front + banner + below) };
      assert.equal(compileFile({ ...file, wiki_id: 'wiki_x', page_path: 'x' }, new Map()).title, expected, filename);
      assert.equal(titleOfBeginning(file).title, expected, filename);
    }
  }
});

test('a title after the beginning is unknown, and a beginning that ends inside a character does not change the text', () => {
  const long = PLAIN.repeat(TITLE_BYTES);
  const cut = (text: string) => Buffer.from(text).subarray(0, TITLE_BYTES);
  for (const [filename, text, title] of [
    ['a.md', `${long}# Title\n`, ''],
    ['b.md', `# Title\n\n${'é😀'.repeat(TITLE_BYTES)}`, 'Title'],
    ['c.html', `<title>Title</title>\n${'é😀'.repeat(TITLE_BYTES)}`, 'Title'],
    ['d.html', `${long}<h1>Title</h1>`, ''],
    ['e f.pdf', `%PDF-1.7${long}`, 'e f'],
    ['f.md', `\ufeff# Title\n${long}`, 'Title'],
    ['g.md', '\xff\xfe\x00', ''],
    ['h.md', 'GIF89a\0', ''],
    ['i.md', '', 'i'],
    ['j.md', `# ${'['.repeat(TITLE_BYTES)}`, ''],
    ['k.md', `---\ntitle: ${'['.repeat(TITLE_BYTES)}\n---\n`, ''],
    ['l.md', '<h1 >\n'.repeat(TITLE_BYTES), ''],
    ['m.html', '<title >'.repeat(TITLE_BYTES), ''],
  ] as const) {
    assert.equal(titleOfBeginning({ filename, content_type: '', bytes: cut(text) }).title, title, filename);
  }
});
