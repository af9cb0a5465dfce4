import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadNeeded } from '@ibid/markdown/on-demand/load-needed.ts';
import { parseMarkdown, visit } from '@ibid/markdown/parse-markdown.ts';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { markdownLosses } from './markdown-losses.ts';

const html = (markdown: string) => renderMarkdown(markdown).html;

test('the language of code is the name before its options, however they are written', () => {
  for (const info of [
    'js,ignore',
    'js{1,3-4}',
    '{ .js }',
    'js=101',
    '{.js .numberLines startFrom="1"}',
    'js title="a.js"',
    'JS',
  ])
    assert.match(html(`\`\`\`${info}\nlet a;\n\`\`\``), /<code class="language-js"><span class="hljs-/, info);
  for (const info of ['c++', 'c#', 'objective-c', 'f#'])
    assert.ok(html(`\`\`\`${info}\nx\n\`\`\``).includes(`language-${info}`), info);
  for (const info of ['', '{1,3}', '{#id}', ',ignore'])
    assert.doesNotMatch(html(`~~~${info}\nx\n~~~`), /language-/, info);
});

test('an alert with spaces after its kind is named by its kind', () => {
  for (const spaces of ['', ' ', '  ', '   ', '\\'])
    assert.match(html(`> [!NOTE]${spaces}\n> text`), />Note<\/p>\n<p>text</, JSON.stringify(spaces));
});

test('emoji may follow each other directly', async () => {
  await loadNeeded(':tada::tada:');
  assert.equal(renderMarkdown(':tada::tada: 10:30:45 a:tada: :no::tada:').text, '🎉🎉 10:30:45 a:tada: :no:🎉');
});

test('markers of a table of contents are not shown, and are listed as losses', () => {
  for (const mark of ['[TOC]', '[toc]', '[[_TOC_]]', '[[toc]]', '[[TOC]]', '[[_TOSP_]]']) {
    const page = renderMarkdown(`${mark}\n\n# A\n\n> ${mark}\n`);
    assert.deepEqual([page.text, page.wiki_links], ['A', []], mark);
    const losses = markdownLosses(`${mark}\n\n# A\n`).map(({ kind, excerpt }) => [kind, excerpt]);
    assert.deepEqual(losses, [['metadata', mark]], mark);
  }
  assert.match(html('[TOC]\n\n[toc]: /contents'), /<a href="\/contents">TOC/);
  assert.match(renderMarkdown('See [TOC] and `[TOC]`\n\n    [TOC]\n').text, /See \[TOC\] and \[TOC\]\n\[TOC\]/);
});

test('attributes of links, pictures and paragraphs are not shown, but their size and id are used', () => {
  const page = renderMarkdown(
    '[Go](https://example.com){ .md-button .md-button--primary }\n\n> Note\n{.is-info}\n\n' +
      '![a](https://example.com/a.png){ width="300" height=20px }\n\n**b**{: .c } and\n{: #p1 }\n\n{: .note }\n\n[x](#p1)\n',
  );
  assert.equal(page.text, 'Go\nNote\na\nb and\nx');
  assert.match(page.html, /<img [^>]*alt="a" width="300" height="20"/);
  assert.match(page.html, /<p id="h-p1">/);
  for (const text of ['set {a, b}', 'x {#a}', '`{.a}`', '{a: 1}', 'in { .md-button } a line', '[a](b) {.c} d'])
    assert.ok(renderMarkdown(text).text.includes('{'), text);
  const [loss] = markdownLosses('[a](b){ .c }\n');
  assert.deepEqual([loss?.kind, loss?.excerpt], ['metadata', '{ .c }']);
});

test('an id of a heading may follow its last character directly', () => {
  assert.equal(
    html('# 发布了！{#v3}\n\n[a](#v3)'),
    '<h1 id="h-发布了">发布了！<a id="h-v3"></a></h1>\n<p><a href="#h-v3">a</a></p>',
  );
});

test('emphasis in Chinese, Japanese and Korean may end at punctuation', () => {
  for (const [markdown, shown] of [
    ['**注意：**请勿这样。', '<strong>注意：</strong>请勿这样。'],
    ['请看**「说明」**一节', '请看<strong>「说明」</strong>一节'],
    ['これは*重要。*です', 'これは<em>重要。</em>です'],
    ['**한국어(영어)**는', '<strong>한국어(영어)</strong>는'],
    ['他说**“好”**了', '他说<strong>“好”</strong>了'],
    ['snake_case_词 and **bold**', 'snake_case_词 and <strong>bold</strong>'],
    ['a * b * c 词', 'a * b * c 词'],
  ] as const)
    assert.equal(html(markdown), `<p>${shown}</p>`, markdown);
  assert.equal(html('a**"b"**c'), '<p>a**"b"**c</p>', 'other scripts keep the rules of CommonMark');
});

test('LaTeX formulas are recognized in backslash brackets, and other escaped brackets stay brackets', () => {
  assert.match(html('Inline \\(E=mc^2\\) and \\(x\\)'), /math-inline">E=mc\^2<.*math-inline">x</);
  assert.match(
    html('\\[\na^2 + \\frac{1}{2}\n\\]'),
    /<pre class="math"><code class="language-math math-display">a\^2 \+ \\frac\{1\}\{2\}</,
  );
  for (const text of ['\\[1\\]', '\\(not a link\\)', '\\[x\\] done', '\\(a', '\\[link\\](b)'])
    assert.doesNotMatch(html(text), /math/, text);
});

test('links may have schemes of programs that ask before they act', () => {
  for (const address of ['tel:+491234', 'ftp://example.com/a', 'sms:+49123', 'mailto:a@example.com'])
    assert.ok(html(`[x](${address})`).includes(`href="${address}"`), address);
  for (const address of ['file:///etc/passwd', 'javascript:alert(1)', 'vscode://file/a', 'data:text/html,x'])
    assert.doesNotMatch(html(`[x](${address})`), /href/, address);
});

test('the size of a picture may follow its address or end its title', () => {
  for (const [markdown, size] of [
    ['![a](https://x.example/a.png =200x100)', 'width="200" height="100"'],
    ['b ![a](https://x.example/a.png =200x) c', 'width="200"'],
    ['![a](https://x.example/a.png =x100)', 'height="100"'],
    ['- ![a](<https://x.example/a.png> =200x100)', 'width="200" height="100"'],
    ['![a](https://x.example/a.png =200x100 "The plan")', 'width="200" height="100"'],
    ['![a](https://x.example/a.png "The plan =200x100")', 'width="200" height="100"'],
    ['![a](https://x.example/a.png "=200x")', 'width="200"'],
  ] as const) {
    const page = renderMarkdown(markdown);
    assert.match(page.html, new RegExp(`<img src="https://x.example/a.png" alt="a"[^>]* ${size}[ >]`), markdown);
    assert.doesNotMatch(page.html, /=200x|=x100/, markdown);
    assert.equal(page.html.includes('<figcaption>The plan</figcaption>'), markdown.includes('plan'), markdown);
  }
  let address = '';
  const upload = 'See ![a](a.png =200x100).';
  visit(parseMarkdown(upload), ({ data }) => {
    address += upload.slice(...(data?.destination ?? [0, 0]));
  });
  assert.equal(address, 'a.png', 'an upload finds the picture by its address');
  const two = html('![a](https://x.example/a.png =1x2)\n\n![a](https://x.example/a.png =3x4)');
  assert.match(two, /width="1" height="2"[\s\S]*width="3" height="4"/);
  for (const other of [
    '`![a](a.png =200x100)`',
    '    ![a](a.png =200x100)',
    '```\n![a](a.png =200x100)\n```',
    '\\![a](a.png =1x2)',
    '[a](a.png =1x2)',
  ])
    assert.match(renderMarkdown(other).text, /\[a\]\(a\.png =\d+x\d+\)/, other);
});
