import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadNeeded } from './on-demand/load-needed.ts';
import { renderMarkdown } from './render.ts';

/** The HTML of a one-paragraph text, without the paragraph. */
function inline(markdown: string): string {
  return renderMarkdown(markdown).html.replace(/^<p>|<\/p>$/g, '');
}

function math(value: string): string {
  return `<code class="language-math math-inline">${value}</code>`;
}

test('code of a known language is highlighted by classes, and its text is unchanged', () => {
  const { html, text } = renderMarkdown('```js title="x"\nlet x = "</code>"; // y\n```\n');
  assert.equal(
    html,
    '<pre><code class="language-js"><span class="hljs-keyword">let</span> x = ' +
      '<span class="hljs-string">"&#x3C;/code>"</span>; <span class="hljs-comment">// y</span>\n</code></pre>',
  );
  assert.equal(text, 'let x = "</code>"; // y');
  for (const language of ['ts', 'python', 'sh', 'yaml', 'json', 'go', 'rust', 'sql', 'html', 'css', 'java', 'C++']) {
    const page = renderMarkdown(`\`\`\`${language}\nif "a" # 1 <b> { x: 1 } // /* select\n\`\`\``);
    assert.match(page.html, /<span class="hljs-/, `${language} must be known`);
    assert.equal(page.text, 'if "a" # 1 <b> { x: 1 } // /* select');
    assert.doesNotMatch(page.html, /style=/);
  }
});

test('code without a known language, and code as long as a file, is not highlighted', () => {
  for (const language of ['', 'nolang', 'constructor', '__proto__', 'toString']) {
    assert.doesNotMatch(renderMarkdown(`\`\`\`${language}\nlet x = 1;\n\`\`\``).html, /hljs/, language);
  }
  const line = 'let x = "some text"; // and more\n';
  assert.doesNotMatch(renderMarkdown(`\`\`\`js\n${line.repeat(400)}\`\`\``).html, /hljs/);
  const many = renderMarkdown(`\`\`\`js\n${line.repeat(200)}\`\`\`\n\n`.repeat(20)).html;
  const coloured = many.split('<pre>').filter((block) => block.includes('hljs-keyword')).length;
  assert.ok(coloured > 0 && coloured < 20, 'a page has colours up to a bound, and code behind it');
});

test('mathematics is marked for the browser to draw, in a paragraph and as a block', () => {
  assert.equal(inline('so $x_1 * y_1$ holds'), `so ${math('x_1 * y_1')} holds`);
  assert.equal(inline('$a$, ($b$) and $`c`$'), `${math('a')}, (${math('b')}) and ${math('c')}`);
  assert.equal(inline('$a\nb$'), math('a\nb'));
  assert.equal(inline('$5 \\$ 6$'), math('5 \\$ 6'));
  assert.equal(inline('$<b>$'), math('&#x3C;b>'));
  assert.equal(inline('x $$y$$ z'), 'x <code class="language-math math-display">y</code> z');
  const block = '<pre class="math"><code class="language-math math-display">a\n\n- b</code></pre>';
  assert.equal(renderMarkdown('$$\na\n\n- b\n$$\n').html, block);
  assert.equal(renderMarkdown('```math\na\n\n- b\n```\n').html, block);
  assert.equal(renderMarkdown('> $$\n> a\n>\n> - b\n> $$\n').html, `<blockquote>\n${block}\n</blockquote>`);
  assert.equal(renderMarkdown('- $$\n  a\n\n  - b\n  $$\n').html.replace(/\n(?=<)/g, ''), `<ul><li>${block}</li></ul>`);
  assert.equal(
    renderMarkdown('$$ a = b $$').html,
    '<pre class="math"><code class="language-math math-display">a = b</code></pre>',
  );
});

test('the dollar sign of a price, of a variable or after a backslash is literal', () => {
  for (const text of [
    'it costs $5 or $10',
    'from $5 to $10, or $x',
    'US$5 and US$6',
    '$HOME/$USER',
    'a $ b $ c',
    '$$$a$$$',
    '$a',
    '$$a',
    '$$$$',
  ]) {
    assert.equal(inline(text), text);
  }
  assert.equal(inline('\\$a$ and `$a$`'), '$a$ and <code>$a$</code>');
  assert.match(renderMarkdown('$5 or $6, where $x$ is').html, /\$5 or \$6, where <code [^>]*>x<\/code> is/);
});

test('a diagram is kept as written, for the browser to draw', () => {
  assert.equal(
    renderMarkdown('```mermaid\ngraph TD; A-->B["<b>"]\n```').html,
    '<pre class="mermaid">graph TD; A-->B["&#x3C;b>"]</pre>',
  );
});

test('strikethrough, tasks, footnotes, tables and bare addresses are rendered as on GitHub', () => {
  const { html } = renderMarkdown(
    '~~old~~ see www.x.example, https://y.example/a_b and a@x.example[^1]\n\n- [x] done\n- [ ] open\n\n' +
      '| a | b |\n|:--|--:|\n| `x\\|y` | 2 |\n\n[^1]: Note.\n',
  );
  for (const part of [
    '<del>old</del>',
    '<a href="http://www.x.example" rel="nofollow noopener noreferrer">www.x.example</a>',
    '<a href="https://y.example/a_b" rel="nofollow noopener noreferrer">https://y.example/a_b</a>',
    '<a href="mailto:a@x.example">a@x.example</a>',
    '<input type="checkbox" checked disabled> done',
    '<input type="checkbox" disabled> open',
    '<th align="left">a</th>',
    '<code>x|y</code>',
    '<a href="#h-fn-1"',
    '<li id="h-fn-1">',
  ]) {
    assert.ok(html.includes(part), `${part} must be in ${html}`);
  }
});

test('one tilde is literal, and two strike out', () => {
  assert.equal(renderMarkdown('H~2~O ~~no~~').html, '<p>H~2~O <del>no</del></p>');
});

/** Loads and renders as the rendering processes do. */
async function renderedWith(markdown: string) {
  await loadNeeded(markdown);
  return renderMarkdown(markdown);
}

test('code of every language of highlight.js is coloured, and the colours depend on the text alone', async () => {
  const rare = '```powershell\nGet-Item $x\n```\n';
  const { html } = await renderedWith(rare);
  assert.match(html, /<span class="hljs-built_in">Get-Item<\/span>/);
  assert.match((await renderedWith('~~~PS1\nGet-Item $x\n~~~')).html, /hljs-built_in/);
  assert.ok(!(await renderedWith('```unheard-of\na\n```')).html.includes('hljs'));
  await loadNeeded('```js\na\n```');
  assert.ok(!renderMarkdown(rare).html.includes('hljs'), 'another text before it must not count');
  // A file may be in UTF-16.
  await loadNeeded(Buffer.from(rare, 'utf16le'));
  assert.equal(renderMarkdown(rare).html, html);
});

test('names of emoji between words are emoji; times, code, unknown names and addresses stay', async () => {
  for (const [markdown, html] of [
    [':tada: and :+1:!', '<p>🎉 and 👍!</p>'],
    ['*:tada:* ==:tada: new==', '<p><em>🎉</em> ==🎉 new==</p>'],
    ['at 10:30:45, a:tada:b, `:tada:` and :no-such: :constructor:', undefined],
    ['[x](https://a.example/:tada:)', undefined],
  ] as const) {
    const shown = (await renderedWith(markdown)).html;
    if (html !== undefined) assert.equal(shown, html);
    else assert.ok(!shown.includes('🎉'), shown);
  }
  const { html, outline, text } = await renderedWith('# :tada: News\n\nSee [it](#tada-news) :tada:\n');
  assert.match(html, /<h1 id="h-tada-news">🎉 News<\/h1>.*href="#h-tada-news"/s);
  assert.deepEqual([outline[0]?.text, text], ['🎉 News', '🎉 News\nSee it 🎉']);
});

test('terms followed by lines with a leading colon are a definition list, whose items are blocks with their lines', () => {
  const { html, blocks } = renderMarkdown(
    'Apple\nPome *fruit*\n:   A fruit\n    of a tree\n: A **firm**\n\nNo list\nof two lines\n\n: nor this\n',
  );
  assert.match(
    html,
    /^<dl>\n<dt>Apple<\/dt>\n<dt>Pome <em>fruit<\/em><\/dt>\n<dd>A fruit\nof a tree<\/dd>\n<dd>A <strong>firm<\/strong><\/dd>\n<\/dl>\n<p>No list\nof two lines<\/p>\n<p>: nor this<\/p>$/,
  );
  assert.deepEqual(
    blocks.map(({ first_line, last_line }) => [first_line, last_line]),
    [
      [1, 1],
      [2, 2],
      [3, 4],
      [5, 5],
      [7, 8],
      [10, 10],
    ],
  );
});

test('the title of a picture that stands alone is its caption', () => {
  assert.match(
    renderMarkdown('![A plan](plan.png "The <plan>")').html,
    /^<figure><img src="plan.png" alt="A plan"[^>]*><figcaption>The &#x3C;plan><\/figcaption><\/figure>$/,
  );
  assert.match(renderMarkdown('See ![a](b.png "c")').html, /^<p>See <img [^>]*title="c"/);
});

test('each block of a page with right-to-left letters has a direction, and blocks of other pages have no direction', () => {
  const { html } = renderMarkdown('# مرحبا\n\n- العالم a\n- latin ب\n\n```\nخ\n```\n\n12 مرحبا\n');
  assert.match(html, /<h1 id="[^"]*" dir="rtl">/);
  assert.match(html, /<ul dir="rtl">\n<li dir="rtl">العالم a<\/li>\n<li dir="ltr">latin ب<\/li>/);
  assert.match(html, /<pre dir="ltr">.*<p dir="rtl">12 /s);
  assert.ok(!renderMarkdown('# Plain\n\n- 日本語\n').html.includes('dir='));
});
