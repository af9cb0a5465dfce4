import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '../render.ts';

const html = (markdown: string) => renderMarkdown(markdown).html;

test('GitHub alerts are callouts whose title is the name of their kind', () => {
  assert.equal(
    html('> [!NOTE]\n> Some *text*.\n>\n> - more\n'),
    '<blockquote class="callout note">\n<p class="callout-title">Note</p>\n<p>Some <em>text</em>.</p>\n<ul>\n<li>more</li>\n</ul>\n</blockquote>',
  );
  assert.match(
    html('> [!WARNING]\n> Hot.'),
    /class="callout warning">\n<p class="callout-title">Warning<\/p>\n<p>Hot\.</,
  );
  assert.match(html('> [!CAUTION]  \n> Hot.'), /class="callout caution">/);
});

test('Obsidian callouts have their own title, and foldable callouts are details elements', () => {
  assert.match(
    html('> [!faq]- Are they *folded*?\n> Yes.\n'),
    /^<details class="callout important">\n<summary class="callout-title">Are they <em>folded<\/em>\?<\/summary>\n<p>Yes\.<\/p>\n<\/details>$/,
  );
  assert.match(html('> [!tip]+\n> Open.'), /^<details class="callout tip" open>\n<summary class="callout-title">Tip</);
  assert.match(
    html('> [!whatever] Title only'),
    /class="callout note">\n<p class="callout-title">Title only<\/p>\n<\/blockquote>/,
  );
  assert.match(html('> [!tip]\n> > [!bug]\n> > inner'), /callout tip[\s\S]*callout caution[\s\S]*inner/);
});

test('other quotes stay quotes, and the content of a page cannot use the classes of the application', () => {
  for (const quote of ['> NOTE', '> [!]', '> [!div class="x"]', '> [!NOTE]text', '> `[!NOTE]`', '[!NOTE]'])
    assert.doesNotMatch(html(quote), /callout/, quote);
  assert.doesNotMatch(html('> [!note]\n\n[!note]: https://x.example'), /callout/, 'a link that the document defines');
  assert.equal(
    html('<blockquote class="callout header note x">a</blockquote>'),
    '<blockquote class="callout note">a</blockquote>',
  );
  assert.doesNotMatch(html('> [!note] <script>alert(1)</script>\n> <img src=x onerror=alert(1)>'), /<script|onerror/);
});

test('the text of a callout is searched and cited with its title, on its lines', () => {
  const { text, blocks } = renderMarkdown('# A\n\n> [!NOTE]\n> One.\n> Two.\n\nThree.\n');
  assert.equal(text, 'A\nNote\nOne. Two.\nThree.');
  assert.deepEqual(
    blocks.map(({ start, end }) => text.slice(start, end)),
    ['A', 'Note\nOne. Two.', 'Three.'],
  );
});

test('highlights are marked and comments are left out, around words and outside of code', () => {
  assert.equal(
    html('An ==important== word, ==two words==.'),
    '<p>An <mark>important</mark> word, <mark>two words</mark>.</p>',
  );
  assert.equal(html('Shown %%not shown%% again.'), '<p>Shown  again.</p>');
  assert.doesNotMatch(renderMarkdown('Shown %%not\nshown%% again.').text, /not/);
  for (const text of [
    'a == b and c == d',
    'x==y==z',
    'for %%i in (*) do echo %%i',
    '100%% of 20%% more',
    '`==a==` `%%b%%`',
  ])
    assert.doesNotMatch(html(text), /<mark|<p><\/p>/, text);
  assert.match(html('for %%i in (*) do echo %%i'), /for %%i in \(\*\) do echo %%i/);
  assert.match(html('`%%b%%`'), /%%b%%/);
});

test('comments are left out if they span blocks or contain markup, and the page keeps its lines', () => {
  const { text, blocks } = renderMarkdown(
    'One.\n\n%%\nhidden *a*\n\n- hidden b\n%%\n\nTwo %%see [c](d.md) `x`%% three.\n',
  );
  assert.equal(text, 'One.\nTwo three.');
  assert.deepEqual(
    blocks.map(({ first_line }) => first_line),
    [1, 9],
  );
  for (const kept of ['```\n%%\na\n%%\n```', '%% Section A\n\ntext', '%%\nno end', 'for %%i in (a) do %%i'])
    assert.match(renderMarkdown(kept).text, /a|text|no end/, kept);
});

test('Docusaurus boxes between colons are callouts, with lists and other boxes in them', () => {
  assert.equal(
    html(':::tip My *title*\nText\n\n- a\n- b\n:::\n\nAfter'),
    '<blockquote class="callout tip">\n<p class="callout-title">My *title*</p>\n<p>Text</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n</blockquote>\n<p>After</p>',
  );
  assert.match(html(':::note\na\n:::'), /callout note">\n<p class="callout-title">Note<\/p>\n<p>a<\/p>/);
  assert.match(html('::::info[Outer]\n:::danger\ninner\n:::\n::::'), /Outer[\s\S]*callout caution[\s\S]*inner/);
  assert.match(html('::: {.warning}\nhot\n:::'), /callout warning/);
  assert.match(html(':::details More\nhidden\n:::'), /<details class="callout note">\n<summary[^>]*>More</);
  for (const other of [
    ':::note',
    ':::',
    ':::row:::\ntext\n:::',
    '`:::note`',
    '```\n:::note\na\n:::\n```',
    '::: columns\na\n:::',
  ])
    assert.doesNotMatch(html(other), /callout/, other);
});

test('MkDocs boxes with indented content are callouts, and can be folded', () => {
  assert.equal(
    html('Before\n\n!!! warning "Hot *x*"\n\n    Text `a`\n\n    - item\n\n!!! note\n    second\nAfter'),
    '<p>Before</p>\n<blockquote class="callout warning">\n<p class="callout-title">Hot *x*</p>\n<p>Text <code>a</code></p>\n<ul>\n<li>item</li>\n</ul>\n</blockquote>\n' +
      '<blockquote class="callout note">\n<p class="callout-title">Note</p>\n<p>second\nAfter</p>\n</blockquote>',
  );
  assert.match(
    html('??? note\n    folded'),
    /<details class="callout note">\n<summary class="callout-title">Note<\/summary>\n<p>folded/,
  );
  assert.match(
    html('???+ tip "T"\n    open\n\n    ```js\n    a\n    ```'),
    /<details class="callout tip" open>[\s\S]*language-js/,
  );
  const { text, blocks } = renderMarkdown('# A\n\n!!! note\n    one\n\n    two\n');
  assert.equal(text, 'A\nNote\none\ntwo');
  assert.deepEqual(
    blocks.map(({ first_line, last_line }) => [first_line, last_line]),
    [
      [1, 1],
      [3, 6],
    ],
  );
  for (const other of ['!!! note', '!!! note\ntext', 'Stop!!! note\n    a', '    !!! note'])
    assert.doesNotMatch(html(other), /callout/, other);
});

test('MDX is shown without imports, exports and component tags; values in braces stay', () => {
  const { text } = renderMarkdown(
    "---\ntitle: T\n---\nimport Tabs from '@theme/Tabs';\nimport {\n  a,\n} from 'b';\n\nexport const x = {\n  y: 1,\n};\n\n# Head {x}\n\n<Tabs groupId={'a'} values={[\n  {label: '>'},\n]}>\n<TabItem value=\"one\">\n\nShown **one** <Icon name={`a`} /> <A.B c={1}>in</A.B> {props.b}\n\n</TabItem>\n</Tabs>\n",
  );
  assert.equal(text, 'Head {x}\none\nShown one in {props.b}');
  for (const [kept, words] of [
    ['import is a word from "trade"', /import is/],
    ['Text\nimport a from "b"', /import a/],
    ['```js\nimport a from "b"\n```', /import a/],
    ['`<Foo a={b} />`', /<Foo a=\{b\} \/>/],
    ['export is not a statement', /export is/],
    ['a <b={c', /a <b=\{c/],
    ['instance <WebAssembly.Instance>', /<WebAssembly\.Instance>/],
    ['\\<Foo a={b}>', /<Foo a=\{b\}>/],
  ] as const)
    assert.match(renderMarkdown(kept).text, words, kept);
});

test('block ids are anchors that links lead to, and no part of the text', () => {
  const { html: made, text } = renderMarkdown(
    'A claim. ^claim-1\n\n- item ^i2x\n\n| a |\n| - |\n| 1 |\n\n^tab1\n\n[[#^claim-1]] [[#^i2x]] [[#^tab1]]\n',
  );
  assert.doesNotMatch(text.replace(/#\^[\w-]+/g, ''), /\^/);
  assert.match(made, /<p id="h-\^claim-1">A claim\.<\/p>/);
  assert.match(made, /<li id="h-\^i2x">item<\/li>/);
  for (const id of ['claim-1', 'i2x', 'tab1']) {
    assert.ok(made.includes(`id="h-^${id}"`), id);
    assert.ok(made.includes(`href="#h-%5E${id}"`), id);
  }
  for (const kept of ['10 ^6', 'x^ab', '[x](y)^ab', 'a ^b', '`a ^abc`', 'a ^ab c'])
    assert.match(renderMarkdown(kept).text, /\^/, kept);
});

test('attributes after a heading are no part of its text, and links lead to their id', () => {
  for (const attributes of ['{#my-id}', '{ #my-id .big data-x="a b" }', '{: #my-id}', '{.big #my-id}']) {
    const page = renderMarkdown(`## Set *up* ${attributes}\n\nTo [it](#my-id).\n`);
    assert.equal(
      page.html,
      '<h2 id="h-set-up">Set <em>up</em><a id="h-my-id"></a></h2>\n<p>To <a href="#h-my-id">it</a>.</p>',
      attributes,
    );
    assert.deepEqual([page.text, page.outline.map(({ text }) => text)], ['Set up\nTo it.', ['Set up']]);
  }
  assert.equal(html('# Setup {#setup}'), '<h1 id="h-setup">Setup</h1>');
  assert.equal(html('# Setup {.unnumbered}'), '<h1 id="h-setup">Setup</h1>');
  for (const text of ['# A {b}', '# {#a}', '# Set {#a, #b}', '# `{#a}`', 'Text {#a}'])
    assert.ok(renderMarkdown(text).text === text.replace(/^# /, '').replaceAll('`', ''), text);
});

test('MkDocs tabs become their titles followed by their content, whatever the content is', () => {
  const markdown =
    '=== "Linux"\n\n    ```sh\n    apt\n    ```\n\n===+ "Mac OS"\n    - item\n\n    !!! note\n        In it\n\nAfter\n';
  const page = renderMarkdown(markdown);
  assert.match(
    page.html,
    /^<p><strong>Linux<\/strong><\/p>\n<pre><code class="language-sh">apt\n<\/code><\/pre>\n<p><strong>Mac OS<\/strong><\/p>\n<ul>[\s\S]*item[\s\S]*<\/ul>\n<blockquote class="callout note">[\s\S]*In it[\s\S]*<\/blockquote>\n<p>After<\/p>$/,
  );
  assert.deepEqual(
    page.blocks.map(({ start, end, first_line }) => [page.text.slice(start, end), first_line]),
    [
      ['Linux', 1],
      ['apt', 4],
      ['Mac OS', 7],
      ['item', 8],
      ['Note\nIn it', 10],
      ['After', 13],
    ],
  );
  for (const text of ['=== "a" b\n    c', '=== "Title"\n\nText', 'Head\n==='])
    assert.doesNotMatch(html(text), /<strong>/, text);
});

test('MDX comments are hidden, except in code', () => {
  assert.equal(
    html('{/* a\n\ncomment */}\n\nText {/* b */} `{/* c */}`').trim(),
    '<p>Text  <code>{/* c */}</code></p>',
  );
});

test('Hugo links and front matter are read; other shortcodes stay unchanged', () => {
  const {
    html: made,
    title,
    text,
  } = renderMarkdown(
    '+++\ntitle = "The \\"page\\""\n[params]\ntitle = "no"\n+++\n\nSee [it]({{< ref "guide.md#top" >}}) and [that]({{% relref "/a/b" %}}). {{< youtube x >}} {{ variable }}\n',
  );
  assert.equal(title, 'The "page"');
  assert.match(made, /<a href="guide\.md#h-top">it<\/a>/);
  assert.match(made, /<a href="\/a\/b">that<\/a>/);
  assert.equal(text, 'See it and that. {{< youtube x >}} {{ variable }}');
});

test('Hugo shortcodes for boxes are callouts, and other shortcodes stay unchanged', () => {
  const box = (kind: string, title: string) =>
    `<blockquote class="callout ${kind}">\n<p class="callout-title">${title}</p>\n<p><strong>b</strong></p>\n</blockquote>`;
  const cases: [head: string, end: string, html: string][] = [
    ['{{% note "Careful now" %}}', '{{% /note %}}', box('note', 'Careful now')],
    ['{{< warning >}}', '{{< /warning >}}', box('warning', 'Warning')],
    ['{{< hint danger >}}', '{{</ hint >}}', box('caution', 'Danger')],
    ['{{% alert title="Watch" color="warning" %}}', '{{% /alert %}}', box('warning', 'Watch')],
    ['{{% notice style="tip" %}}', '{{% /notice %}}', box('tip', 'Tip')],
  ];
  for (const [head, end, html] of cases)
    assert.equal(renderMarkdown(`a\n${head}\n**b**\n${end}\nc`).html, `<p>a</p>\n${html}\n<p>c</p>`, head);
  for (const text of ['{{< tabs >}}\nb\n{{< /tabs >}}', '{{< note >}}\nb', '{{< note />}}\nb\n{{< /note >}}'])
    assert.ok(!renderMarkdown(text).html.includes('callout'), text);
  assert.ok(!renderMarkdown('```\n{{< note >}}\nb\n{{< /note >}}\n```').html.includes('callout'));
});

test('text in code, HTML and formulas that resembles a dialect is shown unchanged', () => {
  const written = [
    ':::tip\nmy content\n:::',
    '!!! note "A title"\n    text',
    '=== "Tab"\n    text',
    '%%secret words%%',
    '%%\nsecret\n%%',
    '{/* a comment */}',
    '{{% note "Title" %}}\ntext\n{{% /note %}}',
    '[text]({{< ref "page.md" >}})',
    "import a from 'b';",
  ].join('\n\n');
  const indented = (by: string) => written.replace(/^(?=.)/gm, by);
  const inCode: [what: string, markdown: string][] = [
    ['indented code', `Write:\n\n${indented('    ')}\n`],
    ['indented code of an item', `- Write:\n\n${indented('      ')}\n`],
    ['indented code of a quote', `> Write:\n>\n${written.replace(/^/gm, '>     ')}\n`],
    ['fenced code', `~~~\n${written}\n~~~\n`],
    [
      'fenced code behind a quote whose fence has no space',
      `> \`\`\`js\n> f()\n>\`\`\`\n\n\`\`\`\n${written}\n\`\`\`\n`,
    ],
    ['fenced code behind a quote that ends its fence', `> \`\`\`\n> f()\n\n\`\`\`\n${written}\n\`\`\`\n`],
    ['fenced code that holds a fence with a language', `\`\`\`\n\`\`\`js\n${written}\n\`\`\`\n`],
  ];
  for (const [what, markdown] of inCode) {
    const { text, html: made } = renderMarkdown(markdown);
    const lines = written.split('\n').filter((line) => line !== '');
    for (const line of lines) assert.ok(text.includes(line), `${what}: ${line}\n${text}`);
    assert.doesNotMatch(made, /callout|\*\*\*|\ufddf/, what);
  }
  for (const [markdown, shown] of [
    ['<pre>\n:::tip\na\n:::\n%%b%% {/* c */}\n</pre>', ':::tip\na\n:::\n%%b%% {/* c */}'],
    ['<div>text\n%%b%% {/* c */}\n!!! note\n    d\n</div>', 'text %%b%% {/* c */} !!! note d'],
    ['$$\n%% first\na = b %% c\n$$', '%% first\na = b %% c'],
    ['$a %%b%%$', 'a %%b%%'],
    ['`a\n%%b%% {/* c */}`', 'a %%b%% {/* c */}'],
    ['<!-- <Foo a={1}/> --> b', 'b'],
    ['%%xxx%% a \\%%xxx%%', 'a %%xxx%%'],
    ['a&#98;%%c%%', 'ab'],
  ] as const)
    assert.equal(renderMarkdown(markdown).text.trim(), shown, markdown);
  assert.match(html('[a](b%%c%%d) ![%%e%%](f)'), /href="b%25%25c%25%25d".*alt="%%e%%"/);
});

test('a box, a comment and a tag are read even around code that resembles one', () => {
  const { html: made, text } = renderMarkdown(
    ':::tip\n\n    :::note\n    a\n    :::\n\n%%hidden%%\n\n<Foo a={b}>shown</Foo>\n:::\n\n    %%c%%\n',
  );
  assert.match(made, /callout tip/);
  assert.doesNotMatch(made, /callout note/);
  assert.equal(text, 'Tip\n:::note\na\n:::\nshown\n%%c%%');
});

test('the language of a fence is read in the notations of other programs, and their options are hidden', () => {
  for (const [info, language] of [
    ['rust,ignore', 'rust'],
    ['js{1,3-4}', 'js'],
    ['js=101', 'js'],
    ['ts:src/a.ts', 'ts'],
    ['python title="a.py" hl_lines="2"', 'python'],
    ['{ .yaml .annotate }', 'yaml'],
    ['{.haskell .x}', 'haskell'],
    ['{r, echo=FALSE}', 'r'],
    ['{code-block} python', 'python'],
    ['c++', 'c++'],
    ['C#', 'c#'],
  ])
    assert.match(
      html(`\`\`\`${info}\nlet a = 1\n\`\`\``),
      new RegExp(`<code class="language-${language?.replaceAll('+', '\\+')}">`),
      info,
    );
  for (const info of ['{=html}', '{', '{}']) assert.match(html(`\`\`\`${info}\na\n\`\`\``), /<pre><code>a/, info);
});

test('emphasis next to Chinese, Japanese and Korean punctuation is recognized', () => {
  assert.equal(html('**注意：**请*「是」*。').trim(), '<p><strong>注意：</strong>请<em>「是」</em>。</p>');
  assert.match(html('한국어 **강조(強調)**는'), /<strong>강조\(強調\)<\/strong>는/);
  assert.equal(html('a**"b"**c').trim(), '<p>a**"b"**c</p>', 'other scripts are read as CommonMark says');
});

test('spaces after the head of a callout are no title', () => {
  for (const head of ['[!NOTE]  ', '[!NOTE]\t ', '[!note]\\'])
    assert.match(html(`> ${head}\n> text`), /callout-title">Note<\/p>\n<p>text/, head);
});

test('definitions after an empty line, and definitions of several paragraphs, are recognized', () => {
  assert.equal(
    html('Term\n\n:   Meaning\n\n    more of it\n').replaceAll('\n', ''),
    '<dl><dt>Term</dt><dd><p>Meaning</p><p>more of it</p></dd></dl>',
  );
  assert.equal(
    html('One\nTwo\n:   a\n\n    b\n\nThree\n\n: c\n\n: *d*\n\nbehind').replaceAll('\n', ''),
    '<dl><dt>One</dt><dt>Two</dt><dd><p>a</p><p>b</p></dd></dl><dl><dt>Three</dt><dd>c</dd><dd><em>d</em></dd></dl><p>behind</p>',
  );
  for (const text of [
    '# Heading\n\n: text',
    ': text',
    'two\nlines\n\n: text',
    '    a\n\n    : text',
    '```\na\n\n: text\n```',
  ])
    assert.doesNotMatch(html(text), /<dl>/, text);
  assert.doesNotMatch(html('a\n\n: text\n\n- item'), /<dt>item|<dd>item/);
});

test('Docusaurus tabs are shown below each other with their titles, indented or not', () => {
  for (const indent of ['', '    ']) {
    const text = `<Tabs groupId="os">\n  <TabItem value="a" label="A label">\n\n${indent}a test\n\n${indent}\`\`\`js\n${indent}let x\n${indent}\`\`\`\n\n  </TabItem>\n  <TabItem value='two' default>\n\n${indent}- item\n\n  </TabItem>\n</Tabs>\n\nafter\n`;
    const shown = html(text);
    assert.match(shown, /<strong>A label<\/strong><\/p>\n<p>a test<\/p>\n<pre><code class="language-js">/, shown);
    assert.match(shown, /<strong>two<\/strong><\/p>\n<ul>\n<li>item<\/li>\n<\/ul>\n<p>after/, shown);
  }
  assert.match(html('    <TabItem label="a">\n'), /<code>/);
  assert.match(html('`<TabItem label="a">` is a tag'), /&#x3C;TabItem/);
});
