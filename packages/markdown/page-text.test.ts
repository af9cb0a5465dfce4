import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../test/extent.ts';
import { countWords, renderPlainText } from './plain-text.ts';
import { renderMarkdown } from './render.ts';

const GUIDE = `---
title: Guide   to *Acme*
lang: en-GB
---
![badge](https://x.example/badge.svg)

Install it
==========

Acme is a tool.[^1] It
runs *anywhere*\\
and <b>fast</b>.

- one
- [x] two

| a | b |
|---|---|
| 1 | 2 |

## Usage

\`\`\`sh
acme   run

  --fast
\`\`\`

[^1]: So they say.
`;

test('the text of a page has one line per block and unchanged code, without markup and front matter', () => {
  assert.equal(
    renderMarkdown(GUIDE).text,
    'badge\nInstall it\nAcme is a tool. It runs anywhere\nand fast.\none\ntwo\na b\n1 2\nUsage\nacme   run\n\n  --fast\nSo they say.',
  );
});

test('the alternative text of a picture is separated from adjacent words', () => {
  assert.equal(renderMarkdown('See![a map](a.png)Lorem ![b](b.png), ![c](c.png)').text, 'See a map Lorem b , c');
});

test('a space between elements separates words, even if it is the only text there', () => {
  const cases = ['[a](b)\u00a0[c](d) e', '`a`\u00a0`c` e', '**a**&nbsp;*c* e', 'a\u00a0<b>\u2003</b>c e'];
  for (const markdown of cases) assert.match(renderMarkdown(markdown).text, /^a[\s]{1,2}c e$/, markdown);
});

test('highlighting does not change the code in the text', () => {
  const codes = {
    js: "import YAML from 'yaml'\nYAML.stringify({ a: 1 })\n\n// so\n\nconst b = `x\n${b}`\nlet c",
    python: '"""Says\nwhy."""\n@cached\ndef f(a):\n    return None\n\n\nclass A:\n    pass',
    css: '/* so */\n\na { color: red }\n\n@media print {\n  b { margin: 0 }\n}',
    diff: '--- a\n+++ b\n@@ -1 +1 @@\n-one\n+two',
    xml: '<?xml version="1.0"?>\n<!-- so -->\n<a b="c">\n  d\n</a>',
    sh: '# so\nexport A=1\n\necho "$A"\n',
  };
  for (const [language, code] of Object.entries(codes)) {
    const { text } = renderMarkdown(`Before\n\n\`\`\`${language}\n${code}\n\`\`\`\n\nbehind`);
    assert.equal(text, `Before\n${code.trimEnd()}\nbehind`, language);
  }
});

test("the outline has each heading's text, id in the HTML and offset in the text", () => {
  const { html, text, outline } = renderMarkdown(GUIDE);
  assert.deepEqual(
    outline.map(({ level, text, anchor }) => [level, text, anchor]),
    [
      [1, 'Install it', 'h-install-it'],
      [2, 'Usage', 'h-usage'],
    ],
  );
  for (const heading of outline) {
    assert.ok(text.startsWith(heading.text, heading.offset), `${heading.text} must start at ${heading.offset}`);
    assert.ok(html.includes(` id="${heading.anchor}"`), `${heading.anchor} must be an id in the HTML`);
  }
});

test('headings that are equal, without letters or of several lines get distinct ids', () => {
  const { outline } = renderMarkdown('# A\n\n# a\n\n# A-1\n\n# 日本 語\n\n# 👋\n\n#\n\nTwo\nlines\n===');
  assert.deepEqual(
    outline.map(({ text, anchor }) => [text, anchor]),
    [
      ['A', 'h-a'],
      ['a', 'h-a-1'],
      ['A-1', 'h-a-1-1'],
      ['日本 語', 'h-日本-語'],
      ['👋', 'h-section'],
      ['Two lines', 'h-two-lines'],
    ],
  );
});

test('the outline has the first 2,000 headings, and the HTML and the text have all', () => {
  const { html, text, outline } = renderMarkdown(Array.from({ length: 2_001 }, (_, i) => `# H${i}`).join('\n\n'));
  assert.deepEqual([outline.length, outline.at(-1)?.text], [2_000, 'H1999']);
  assert.ok(html.includes('id="h-h2000"') && text.endsWith('H2000'));
});

test('title, description and language come from the front matter, otherwise from a heading and the first paragraph', () => {
  const { title, description, language } = renderMarkdown(GUIDE);
  assert.deepEqual(
    [title, description, language],
    ['Guide to *Acme*', 'Acme is a tool. It runs anywhere and fast.', 'en-GB'],
  );
  const bare = renderMarkdown('- x\n\n# Later\n\n> quoted\n');
  assert.deepEqual([bare.title, bare.description, bare.language], ['Later', 'quoted', '']);
  const boxed = renderMarkdown('> [!TIP]\n> Oil it.\n');
  assert.equal(boxed.description, 'Oil it.', 'the title of a callout says nothing of the page');
  const empty = renderMarkdown('');
  assert.deepEqual([empty.title, empty.description, empty.text, empty.outline], ['', '', '', []]);
  const long = renderMarkdown(`# ${'t'.repeat(400)}\n\n${'😀'.repeat(400)}`);
  assert.equal(long.title.length, 255);
  assert.equal(long.description, '😀'.repeat(150), 'a description is cut between characters');
});

test('invalid or oversized front matter sets no title, and the page is shown', () => {
  const aliases = Array.from({ length: 30 }, (_, i) => `a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`).join('\n');
  const broken = [
    'title: [',
    'title: {a: b}',
    '\t- x\n: y',
    `a-1: &a-1 x\n${aliases}\ntitle: *a29`,
    '['.repeat(10_000),
    `title: ${'x'.repeat(70_000)}`,
    '__proto__: {title: x}',
  ];
  for (const yaml of broken) {
    const { title, text } = renderMarkdown(`---\n${yaml}\n---\n\n# Shown\n`);
    assert.deepEqual([title, text], ['Shown', 'Shown'], `front matter ${yaml.slice(0, 40)}`);
  }
  assert.equal(renderMarkdown('---\ntitle: 2024\n---\n').title, '2024');
});

test('words of scripts without spaces are counted by character, other words by spaces', () => {
  assert.equal(countWords("Don't count well-known words twice, 3 times."), 7);
  assert.equal(countWords('日本語の文章'), 6);
  assert.equal(countWords('Gitを使う'), 4);
  assert.equal(countWords('Привет, мир! 안녕 하세요'), 4);
  assert.equal(countWords(' \n -- ... '), 0);
});

longTest('a text that is nested too deep, or would expand too much, is shown as plain text', () => {
  const bombs = {
    quotes: `${'>'.repeat(100_000)} x`,
    lists: Array.from({ length: 300 }, (_, i) => `${' '.repeat(2 * i)}- x`).join('\n'),
    html: `${'<div>'.repeat(5_000)}x`,
    table: `|${'a|'.repeat(1_000)}\n|${'-|'.repeat(1_000)}\n${'x\n'.repeat(1_000)}`,
    references: `[a]: https://x.example/${'y'.repeat(10_000)}\n\n${'[a] '.repeat(1_000)}`,
    footnotes: `${'[^a] '.repeat(5_001)}\n\n[^a]: x`,
  };
  for (const [name, bomb] of Object.entries(bombs)) {
    const rendered = renderMarkdown(bomb);
    assert.deepEqual(rendered, renderPlainText(bomb), `the bomb of ${name} must be shown as plain text`);
  }
  const nested = renderMarkdown(`${'> '.repeat(100)}x`);
  assert.equal(nested.html.match(/<blockquote>/g)?.length, 100, 'what a browser can show is shown');
  assert.match(renderMarkdown(`${'* '.repeat(400)}\n\nx`).html, /<hr>/, 'a long rule is a rule');
});

test('plain text is shown character by character', () => {
  const text = '\n<b>&amp;</b> "x"\n\n  # y';
  const { html, word_count, description } = renderPlainText(text);
  assert.equal(html, '<pre>\n\n&#x3C;b>&#x26;amp;&#x3C;/b> "x"\n\n  # y</pre>');
  assert.deepEqual([word_count, description], [5, '<b>&amp;</b> "x"']);
});

test('the same text always gives the same page', () => {
  assert.deepEqual(renderMarkdown(GUIDE), renderMarkdown(GUIDE));
});
