import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { extract } from '../read-text.ts';
import { htmlToMarkdown } from './html.ts';

const markdownOf = (html: string) => htmlToMarkdown(html).markdown.trimEnd();

/** Returns the kind, count, characters and excerpt of each loss. */
function said(html: string): unknown[] {
  return htmlToMarkdown(html).losses.map(({ kind, count, characters, excerpt }) => [kind, count, characters, excerpt]);
}

function tex(mathml: string): string {
  const { markdown, losses } = htmlToMarkdown(`<p><math>${mathml}</math></p>`);
  assert.deepEqual(losses, [], markdown);
  assert.match(markdown, /^\$.*\$\n$/);
  return markdown.slice(1, -2);
}

test('formulas in MathML become TeX', () => {
  const cases: [string, string][] = [
    ['<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>10</mn></mrow></mfrac>', '\\frac{a}{b+10}'],
    ['<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>', '\\genfrac{}{}{0pt}{}{n}{k}'],
    ['<msqrt><mi>x</mi><mo>−</mo><mn>1</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>', '\\sqrt{x-1}\\sqrt[3]{x}'],
    ['<msup><mn>10</mn><mn>6</mn></msup><msub><mi>x</mi><mi>i</mi></msub>', '10^{6}x_{i}'],
    ['<msubsup><mi>x</mi><mn>0</mn><mn>2</mn></msubsup>', 'x_{0}^{2}'],
    ['<msup><mi>f</mi><mo>′</mo></msup>', "f'"],
    [
      '<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>',
      '\\sum_{i=1}^{n}i',
    ],
    [
      '<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder><mi>sin</mi><mo>⁡</mo><mi>x</mi>',
      '\\lim_{x\\to0}\\sin x',
    ],
    ['<mover accent="true"><mi>v</mi><mo>→</mo></mover><mover><mi>x</mi><mo>^</mo></mover>', '\\vec{v}\\hat{x}'],
    [
      '<mrow><mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable><mo>)</mo></mrow>',
      '\\begin{pmatrix}a & b \\\\ c & d\\end{pmatrix}',
    ],
    [
      '<mrow><mo>{</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mtext>if x</mtext></mtd></mtr></mtable></mrow>',
      '\\begin{cases}1 & \\text{if x}\\end{cases}',
    ],
    ['<mfenced open="[" close=")" separators=";"><mi>a</mi><mi>b</mi></mfenced>', '\\left[a;b\\right)'],
    ['<mi>α</mi><mo>≤</mo><mi mathvariant="double-struck">R</mi><mi>𝒜</mi>', '\\alpha\\le\\mathbb{R}\\mathcal{A}'],
    ['<mmultiscripts><mi>C</mi><mn>6</mn><none/><mprescripts/><none/><mn>14</mn></mmultiscripts>', '{}^{14}C_{6}'],
    ['<semantics><mi>y</mi><annotation encoding="application/x-tex">y^{\n2}</annotation></semantics>', 'y^{ 2}'],
  ];
  for (const [mathml, expected] of cases) assert.equal(tex(mathml), expected);
});

test('a formula stays inline in its sentence, cell or block, whichever program wrote it', () => {
  assert.equal(markdownOf('<p>the <math><mi>n</mi></math>th for $5'), 'the $n$\u200bth for \\$5');
  assert.equal(
    markdownOf(
      '<p>So <math display="block"><mi>x</mi></math> holds</p><ul><li><math display=block><mi>y</mi></math></ul>',
    ),
    'So\n\n$$\nx\n$$\n\nholds\n\n- $$\n  y\n  $$',
  );
  assert.equal(
    markdownOf('<table><tr><th>a<tr><td><math display=block><mo>|</mo><mi>x</mi><mo>|</mo></math></table>'),
    '| a |\n| - |\n| $\\vert x\\vert$ |',
  );
  const made = [
    '<span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2</span></span>',
    '<span class="math inline">\\(x^2\\)</span>',
    '<span class="MathJax_Preview">x2</span><span class="MathJax">x2</span><script type="math/tex">x^2</script>',
    '<span class="mwe-math-element"><span style="display: none;"><math><semantics><mi>x</mi><annotation encoding="application/x-tex">{\\displaystyle x^2}</annotation></semantics></math></span><img src="x.svg" alt="x2"></span>',
  ];
  for (const html of made) assert.equal(markdownOf(`<p>A ${html}.</p>`), 'A $x^2$.');
  assert.match(renderMarkdown('the $n$\u200bth').html, /math-inline">n</);
});

test('a formula with an unknown element is shown as its text and listed as lost', () => {
  const html = '<p>A<math><mstack><mn>1</mn></mstack><mi>x</mi></math></p>';
  assert.equal(markdownOf(html), 'A 1x');
  assert.deepEqual(said(html), [['equation', 1, 2, '1x']]);
});

test('superscripts and subscripts never join the text before them', () => {
  assert.equal(
    markdownOf(
      '<p>10<sup>6</sup> H<sub>2</sub>O x<sup><i>n</i></sup> 10<sup>−3,5</sup> <code>a<sup>2</sup>b<sub>,</sub></code>',
    ),
    '10⁶ H₂O xⁿ 10<sup>−3,5</sup> `a²b_(,)`',
  );
});

test('inline markup without a Markdown form, and link targets, do not split the paragraph', () => {
  assert.equal(
    markdownOf('<body>L<sup><small>Q</small></sup>T, <a href="#n">see</a> <a id=n>here</a><ul><li>a<sub>Q</sub>b</ul>'),
    'L<sup>Q</sup>T, [see](#place-0) <a id="place-0"></a>here\n\n- a<sub>Q</sub>b',
  );
});

test('a table in a paragraph and emphasis around paragraphs keep both intact', () => {
  const table = '<table><tr><th>a<th>b<tr><td>1<td>2</table>';
  // In quirks mode, without a doctype, a table does not end a paragraph.
  assert.equal(markdownOf(`<p>See${table}there`), 'See\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nthere');
  assert.equal(
    markdownOf('<b><p>one</p><p>two <i>three</i></p><pre>code</pre></b>'),
    '**one**\n\n**two _three_**\n\n```\ncode\n```',
  );
  assert.equal(markdownOf('<em>x<ul><li>a</ul>y</em>'), '*x*\n\n- *a*\n\n*y*');
  assert.equal(
    markdownOf('<b style="font-weight:normal"><h1>Of Google Docs</h1><p>a</p></b>'),
    '# Of Google Docs\n\na',
  );
});

test('code of several lines stays in its table cell', () => {
  assert.equal(
    markdownOf('<table><tr><th>a<th>b<tr><td><pre>if (x) {\n\n  y\n}</pre><td><tt>c<br>d</tt></table>'),
    '| a | b |\n| - | - |\n| `if (x) {`<br>`y`<br>`}` | `c d` |',
  );
});

test('a link can lead into code, and an empty link is dropped', () => {
  assert.equal(
    markdownOf('<p><a href="#n">n</a><a href="#n"></a></p><p id="o">Text</p><pre>a <b id="n">n</b></pre>'),
    '[n](#place-0)\n\nText\n\n<a id="place-0"></a>\n\n```\na n\n```',
  );
  assert.equal(markdownOf('<a href="#n">n</a> and <var id="n">n</var>'), '[n](#place-0) and <a id="place-0"></a>`n`');
});

test('terms of a table of contents become an item each, and an empty term only indents', () => {
  assert.equal(
    markdownOf('<dl><dt>A<dt>B<dd><dl><dt>B1<dt>B2</dl><dt>C<dt>D</dl>'),
    '- A\n\n- B\n\n  - B1\n  - B2\n\n- C\n\n- D',
  );
  assert.equal(markdownOf('<dl><dt></dt><dd>one<p>two</dl>'), 'one\n\ntwo');
});

test('empty elements of XHTML close themselves if a file declares that it is XHTML', () => {
  const read = (start: string) =>
    extract({
      filename: 'a.html',
      content_type: '',
      bytes: Buffer.from(`${start}<html><body><h1><a id="c"/>Chapter</h1><p><i/>one<b/> two</p></body></html>`),
    }).markdown;
  const doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "xhtml1-transitional.dtd">';
  for (const start of [`<?xml version="1.0"?>\n${doctype}`, doctype])
    assert.equal(read(start), '# Chapter\n\none two\n');
});

test('a line break never joins the adjacent words, and moves out of emphasis', () => {
  assert.equal(htmlToMarkdown('<h1>one<br>two</h1>').title, 'one two');
  assert.equal(markdownOf('<p>one<sup>a<br>b</sup>'), 'one<sup>a\\\nb</sup>');
  for (const name of ['b', 'em', 'u', 'a', 'span']) {
    const start = `<${name} href="x">`;
    const html = `<p>${start}one<br></${name}>two${start} <br/>three</${name}><b><i>four<br></i> </b>five`;
    assert.equal(renderMarkdown(markdownOf(html)).text, 'one\ntwo\nthreefour\nfive', name);
  }
});

test('links within a document lead to their heading or paragraph', () => {
  const markdown = markdownOf(
    '<ul><li><a href="#s1">1</a><li><a href="#s2">2</a><li><a href="#p">p</a><li><a href="#gone">gone</a></ul>' +
      '<section id="s1"><a href="#s1">Source</a><h2>Same<div>Part</div></h2></section><a name="s2"></a><h2><i>Same Part</i></h2><p id="p">Text</p>',
  );
  assert.equal(
    markdown,
    '- [1](#same-part)\n- [2](#same-part-1)\n- [p](#place-2)\n- [gone](#gone)\n\n[Source](#same-part)\n\n## Same Part\n\n## *Same Part*\n\n<a id="place-2"></a>Text',
  );
  const { html } = renderMarkdown(markdown);
  for (const id of ['h-same-part', 'h-same-part-1', 'h-place-2'])
    assert.ok(html.includes(`id="${id}"`) && html.includes(`href="#${id}"`));
});

test('notes become footnotes, wherever the document has them', () => {
  const markdown = markdownOf(
    '<p>One<a href="#fn1" class="footnote-ref" role="doc-noteref"><sup>1</sup></a> two<sup><a href="#n2" role="doc-noteref">*</a></sup></p>' +
      '<aside id="n2" role="doc-footnote" hidden>Second.</aside><h2>Next</h2>' +
      '<section role="doc-endnotes"><hr><ol><li id="fn1"><p>First <b>note</b>.<a href="#r1" role="doc-backlink">↩︎</a></p></li></ol></section>',
  );
  assert.equal(markdown, 'One[^1] two[^2]\n\n## Next\n\n[^2]: Second.\n\n[^1]: First **note**.');
});

test('notes become footnotes in HTML of GitHub, mdBook, docutils, MediaWiki and Asciidoctor', () => {
  const cases: [reference: string, note: string][] = [
    [
      '<sup><a href="#user-content-fn-1" id="user-content-fnref-1" data-footnote-ref="" aria-describedby="footnote-label">1</a></sup>',
      '<section data-footnotes class="footnotes"><h2 id="footnote-label" class="sr-only">Footnotes</h2><ol><li id="user-content-fn-1"><p>A note. <a href="#user-content-fnref-1" data-footnote-backref="">↩</a></p></li></ol></section>',
    ],
    [
      '<sup class="footnote-reference" id="fr-slash-1"><a href="#footnote-slash">1</a></sup>',
      '<ol class="footnote-definition"><li id="footnote-slash"><p>A note. <a href="#fr-slash-1">↩</a></p></li></ol>',
    ],
    [
      '<a class="footnote-reference brackets" href="#id3" id="id1" role="doc-noteref"><span>[</span>2<span>]</span></a>',
      '<aside class="footnote brackets" id="id3" role="doc-footnote"><span class="label"><span>[</span><a role="doc-backlink" href="#id1">2</a><span>]</span></span><p>A note.</p></aside>',
    ],
    [
      '<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span>[</span>1<span>]</span></a></sup>',
      '<ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink">^ <a href="#cite_ref-1">a</a></span> <span>A note.</span></li></ol>',
    ],
    [
      '<sup class="footnote">[<a id="_footnoteref_1" class="footnote" href="#_footnotedef_1" title="View footnote.">1</a>]</sup>',
      '<div class="footnote" id="_footnotedef_1"><a href="#_footnoteref_1">1</a>. A note.</div>',
    ],
  ];
  for (const [reference, note] of cases)
    assert.equal(markdownOf(`<p>Text${reference}.</p>${note}`), 'Text[^1].\n\n[^1]: A note.', reference);
  // The page writes the numbers of notes itself, so they are neither lost nor text of the file.
  for (const [reference, note] of cases) {
    const { file_characters, losses } = htmlToMarkdown(`<p>Text${reference}.</p>${note}`);
    assert.deepEqual([file_characters, losses], ['Text.Anote.'.length, []], reference);
  }
});

test('a data table in a cell of a layout table stays a table', () => {
  const inner =
    '<table><tr><td><i>ctxt</i>:</td><td>a context</td></tr><tr><td>node:</td><td>the node</td></tr></table>';
  assert.equal(
    markdownOf(`<table><tr><td><table><tr><td>Menu</td></tr></table></td><td><h2>Part</h2>${inner}</td></tr></table>`),
    'Menu\n\n## Part\n\n| | |\n| - | - |\n| *ctxt*: | a context |\n| node: | the node |',
  );
});

test('back links of notes are dropped, and links to a removed target lose their address', () => {
  assert.equal(
    markdownOf(
      '<p>One<a id="r1" href="#n1" role="doc-noteref">1</a> two<sup id=r2><a href="#n2" class="footnote-ref">2</a></sup>.</p>' +
        '<ol><li id=n1>First. <a href="#r1">back</a><li id=n2><a href="#r2">2</a> Second, <a href="#t">see</a></ol>' +
        '<p id=t>See <a href="#r1">where</a>, <a href="#">back</a>',
    ),
    'One<a id="place-0"></a>[^1] two[^2].\n\n<a id="place-1"></a>See [where](#place-0), back\n\n' +
      '[^1]: First.\n\n[^2]: Second, [see](#place-1)',
  );
  assert.equal(
    markdownOf(
      '<body id=top><main id=m><nav id=c>C</nav><h1 id=s>T</h1><p><a href="#top">top</a> <a href="#m">main</a> <a href="#c">contents</a>',
    ),
    '<a id="place-2"></a>\n\n# T\n\ntop main [contents](#place-2)',
  );
});

test('content between list items ends up where a browser shows it', () => {
  const cases: [html: string, markdown: string][] = [
    ['<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>', '- a\n  - b\n- c'],
    ['<ul><ul><li>b</ul><li>c</ul>', '- b\n- c'],
    [
      '<ol><p>first<li>b</li><ol><li>c</ol>behind<div><li>d</div></ol>',
      '1. first\n\n2. b\n   1. c\n\n   behind\n\n3. d',
    ],
    ['<dl><dt>A<dt><b>B</b><dd>one<dd><p>two</p><dt>C<dd>three</dl>', 'A\n**B**\n: one\n: two\n\nC\n: three'],
    ['<dl><div><dt>A<dd><p>x<p>y</div><dt>B<dt>C<dd>z</dl>', '- A\n\n  x\n\n  y\n\n- B\n\n  C\n\n  z'],
    [
      '<dl><dt>H<sub>Q</sub> a<dd>10<sup>Q</sup> and <a href="#n">all</a> <a id=n>words</a> of it</dl>',
      'H<sub>Q</sub> a\n: 10<sup>Q</sup> and [all](#place-0) <a id="place-0"></a>words of it',
    ],
    ['<dl><dt>A<dt>B</dl><dl><dd>in<dd>out</dl>', '- A\n- B\n\nin\n\nout'],
  ];
  for (const [html, markdown] of cases) assert.equal(markdownOf(html), markdown, html);
  assert.match(renderMarkdown(markdownOf('<dl><dt>A<dd>one</dl>')).html, /<dl>\s*<dt>A<\/dt>\s*<dd>one<\/dd>\s*<\/dl>/);
});

test('the time for a deeply nested list is linear in its length', () => {
  for (const [open, close] of [
    ['<dl><dt>t<dd>', '</dd></dl>'],
    ['<ul><ul>', '</ul></ul>'],
  ]) {
    const before = process.cpuUsage();
    markdownOf(`${open?.repeat(40)}x${close?.repeat(40)}`);
    const { user } = process.cpuUsage(before);
    assert.ok(user < 5_000_000, `${user} µs`);
  }
});

test('links to removed elements share one target, in time linear in their number', () => {
  const page = (count: number) => {
    const each = (of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join('');
    return `<p>${each((i) => `<a href="#n${i}">${i}</a> `)}</p>${each((i) => `<nav id="n${i}">x</nav>`)}`;
  };
  assert.equal(markdownOf(page(3)), '[0](#place-0) [1](#place-0) [2](#place-0)\n\n<a id="place-0"></a>');
  const cost = (count: number) => {
    const before = process.cpuUsage();
    markdownOf(page(count));
    return process.cpuUsage(before).user;
  };
  cost(100);
  const [once, eightfold] = [cost(150), cost(1_200)];
  assert.ok(eightfold < 30 * once, `eight times as many take ${Math.round(eightfold / once)} times the CPU`);
});

test('tables for navigation or layout are not shown as tables', () => {
  const cell = (text: string) => `<td><a href="${text}.html">${text}</a></td>`;
  const rows = `<tr>${cell('Previous')}<td>|</td>${cell('Next')}</tr><tr>${cell('Up')}<td></td>${cell('Home')}</tr>`;
  assert.equal(
    markdownOf(`<table>${rows}</table>`),
    '[Previous](Previous.html)\n\n|\n\n[Next](Next.html)\n\n[Up](Up.html)\n\n[Home](Home.html)',
  );
  const header = '<tr><th colspan=2>Chapter</th></tr><tr><td>1<td>2';
  for (const own of ['summary="Navigation header"', 'role=presentation', 'class="navheader"'])
    assert.equal(markdownOf(`<table ${own}>${header}</table>`), 'Chapter\n\n1\n\n2');
  assert.match(markdownOf(`<table>${rows}<tr>${cell('a')}${cell('b')}${cell('c')}</table>`), /^\| \| \| \|/);
  assert.match(markdownOf(`<table>${header}</table>`), /^\| Chapter \| \|/);
  assert.match(markdownOf('<table><tr><th><a href=a>A</a><tr><td><a href=b>B</a></table>'), /^\| \[A\]/);
});

test('rows of tables stay rows despite lists and lines in cells, captions and merged cells', () => {
  assert.equal(
    markdownOf(
      '<table><caption>Cap</caption><tr><td>a<td><ul><li>one<li><p>two</p></ul><tr><td>b<br>c<td><ol start=3><li>x<li>y</ol><p>z</table>',
    ),
    'Cap\n\n| | |\n| - | - |\n| a | • one<br>• two |\n| b<br>c | 3. x<br>4. y<br>z |',
  );
  assert.equal(
    markdownOf('<table><tr><th rowspan=2>a<th colspan=2>b<th>c<tr><td>1<td>2<td>3<tr><td>4<td>5<td>6<td>7</table>'),
    '| a | b | | c |\n| - | - | - | - |\n| | 1 | 2 | 3 |\n| 4 | 5 | 6 | 7 |',
  );
  assert.equal(
    markdownOf('<table><tr><td colspan=2>wide<td>x<tr><td>1<td>2<td>3</table>'),
    '| | | |\n| - | - | - |\n| wide | | x |\n| 1 | 2 | 3 |',
  );
  assert.equal(markdownOf('<table><tr><td><h2>Left</h2><p>text<td><p>right</table>'), '## Left\n\ntext\n\nright');
});

test('other elements of HTML keep their content: details, figures, quotations, ruby, menus and checkboxes', () => {
  assert.equal(
    markdownOf(
      '<details><summary><h2>Sum</h2></summary>inside</details><dl><dt>T<dd>D</dl><figure><img src="x.png" alt="A"><figcaption>Fig</figcaption></figure>' +
        '<p><q>said</q> <kbd>Ctrl</kbd> <abbr title="x">abbr</abbr> <ruby>漢<rt>kan</rt></ruby></p><menu><li>m</menu>' +
        '<ul><li><input type=checkbox disabled checked>done</ul><p><input type=checkbox disabled>open</p>',
    ),
    '## Sum\n\ninside\n\nT\n: D\n\n![A](x.png)\n\nFig\n\n"said" `Ctrl` abbr 漢(kan)\n\n- m\n\n* [x] done\n\n☐ open',
  );
});

test('captions hidden from screen readers are shown, and so are pictures in code', () => {
  assert.equal(
    markdownOf(
      '<figure><img src="x.png" alt="Fig"><figcaption aria-hidden="true">Fig <em>one</em></figcaption></figure>',
    ),
    '![Fig](x.png)\n\nFig *one*',
  );
  assert.equal(
    markdownOf(
      '<figure><img src="x.png" alt="Fig one"><figcaption aria-hidden="true">Fig\n<em>one</em></figcaption></figure>',
    ),
    '![](x.png)\n\nFig *one*',
  );
  assert.equal(
    markdownOf('<pre>a <img src="x.png" alt="A">\n  b</pre><p><code>c<img src="y.png" alt="B"></code>'),
    '```\na \n  b\n```\n\n![A](x.png)\n\n`c`![B](y.png)',
  );
});

test('content that is removed from HTML is listed and counted as characters of the file', () => {
  const html =
    '<header>Site</header><nav>Menu one</nav><aside>Beside</aside><main><h1>T</h1><nav>Contents</nav><p hidden>hid</p>' +
    '<p style="visibility:hidden">den</p><p aria-hidden=true>aria</p><noscript>none</noscript><button>Press</button>' +
    '<input value="typed"><iframe src="https://x.example/y"></iframe><svg><text>drawn</text></svg><svg></svg>' +
    '<img alt="bytes" src="data:image/png;base64,AAAA"><script>a()</script><script>b()</script></main><footer>Foot</footer>';
  assert.equal(markdownOf(html), '# T\n\nbytes');
  assert.deepEqual(said(html), [
    ['navigation', 5, 29, 'Site'],
    ['hidden_text', 4, 14, 'hid'],
    ['form_field', 1, 5, 'Press'],
    ['form_field', 1, 0, 'typed'],
    ['embedded_object', 1, 0, 'https://x.example/y'],
    ['picture', 1, 5, 'drawn'],
    ['script', 2, 0, ''],
    ['picture', 1, 0, 'bytes'],
  ]);
  const { file_characters, losses } = htmlToMarkdown(html);
  assert.equal(file_characters, 'T'.length + losses.reduce((sum, { characters }) => sum + characters, 0));
});

test('code keeps the name of its language, whichever program wrote it', () => {
  for (const html of [
    '<pre><code class="language-js">a</code></pre>',
    '<pre class="language-js"><code>a</code></pre>',
    '<pre class="lang-js">a</pre>',
    '<pre data-lang="js">a</pre>',
    '<pre><code data-language="js">a</code></pre>',
    '<pre class="syntaxhighlighter-pre" data-syntaxhighlighter-params="brush: js; gutter: false">a</pre>',
    '<pre class="brush: js; toolbar: false">a</pre>',
    '<pre><code class="hljs js">a</code></pre>',
    '<div class="highlight-js notranslate"><pre>a</pre></div>',
    '<div class="highlight highlight-source-js"><pre>a</pre></div>',
  ])
    assert.equal(htmlToMarkdown(html).markdown, '```js\na\n```\n', html);
  for (const html of ['<pre class="wide">a</pre>', '<div class="highlight-default"><pre>a</pre></div>'])
    assert.equal(htmlToMarkdown(html).markdown, '```\na\n```\n', html);
});
