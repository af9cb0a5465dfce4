import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Element, Nodes, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { extent } from '../../test/extent.ts';
import { corpus } from '../../test/world.ts';
import { renderMarkdown } from './render.ts';

const browser = unified().use(rehypeParse, { fragment: true }).freeze();

/** The elements that a page may contain. Elements that run, load or send anything are missing. */
const ELEMENTS = new Set(
  'a b blockquote br code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li ol p picture pre q rp rt ruby s samp section source span strike strong sub summary sup table tbody td tfoot th thead tr tt ul var'.split(
    ' ',
  ),
);

/** Fails for everything that could run: other elements, event handlers, styles, addresses with other schemes. */
function assertSafe(html: string, what: string): void {
  const visit = (node: Nodes): void => {
    if (node.type === 'element') assertSafeElement(node, what);
    assert.notEqual(node.type, 'comment', what);
    if ('children' in node) node.children.forEach(visit);
  };
  visit(browser.parse(html) as Root);
}

function assertSafeElement({ tagName, properties }: Element, what: string): void {
  assert.ok(ELEMENTS.has(tagName), `<${tagName}> must not be in the page of ${what}`);
  for (const [name, value] of Object.entries(properties)) {
    assert.doesNotMatch(name, /^on|^style$|^srcdoc$|^formaction$|^name$|^background$|^target$/i, `${name} in ${what}`);
    if (/^(href|src|srcset|cite|longdesc)$/i.test(name)) {
      const address = String(value)
        .replace(/[\s\p{Cc}]/gu, '')
        .toLowerCase();
      assert.match(address, /^(https?:|mailto:|xmpp:|ircs?:|[^:]*$|[^:]*[/?#])/, `${name}="${value}" in ${what}`);
    }
  }
  if (tagName === 'input') assert.deepEqual([properties.type, properties.disabled], ['checkbox', true]);
}

const ATTACKS = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
  '<img src=x onerror=alert(1)>',
  '<img src="javascript:alert(1)">',
  '<svg onload=alert(1)>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<math><mi//xlink:href="data:x,<script>alert(1)</script>">',
  '<xmp><p title="</xmp><img src=x onerror=alert(1)>">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="data:text/html,<script>alert(1)</script>"></object>',
  '<embed src="javascript:alert(1)">',
  '<form action="javascript:alert(1)"><button>x</button></form>',
  '<form id=test></form><button form=test formaction="javascript:alert(1)">x</button>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="jAvAsCrIpT:alert(1)">x</a>',
  '<a href="java\tscript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href=" \u0001javascript:alert(1)">x</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<link rel=stylesheet href="https://evil.example/x.css">',
  '<style>@import "https://evil.example/x.css";</style>',
  '<div style="background:url(javascript:alert(1))">x</div>',
  '<details open ontoggle=alert(1)>x</details>',
  '<video><source onerror=alert(1)></video>',
  '<input autofocus onfocus=alert(1)>',
  '<template><script>alert(1)</script></template>',
  '<img name=cookie id=getElementById>',
  '<table background="javascript:alert(1)"><tr><td>x</table>',
  '<p title="<!--"><img src=x title="--><img src=x onerror=alert(1)>">',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<textarea><img title="</textarea><img src=x onerror=alert(1)>">',
  '<select><style></select><img src=x onerror=alert(1)></style>',
  '<b <script>alert(1)</script>0',
  '<a href="https://ok.example" onclick="alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](&#x6A;avascript:alert(1))',
  '[x](java&#10;script:alert(1))',
  '[x](<java\tscript:alert(1)>)',
  '[x](%6Aavascript:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:x)',
  '[x][y]\n\n[y]: javascript:alert(1)',
  '![x](javascript:alert(1))',
  '![x](data:image/svg+xml;base64,PHN2Zy8+)',
  '![x" onerror="alert(1)](y.png)',
  '![x](y.png "t\\" onerror=\\"alert(1)")',
  '<javascript:alert(1)>',
  '<https://ok.example/"onmouseover="alert(1)>',
  '[^1]\n\n[^1]: <script>alert(1)</script>',
  '[^__proto__]\n\n[^__proto__]: x',
  '# <img src=x onerror=alert(1)>',
  '# toString\n# __proto__\n# constructor\n# cookie',
  '```html\n<script>alert(1)</script>\n```',
  '```"><script>alert(1)</script>\nx\n```',
  '- [ ] <script>alert(1)</script>',
  '| <script>alert(1)</script> |\n|---|\n| [x](javascript:alert(1)) |',
  '---\ntitle: "<script>alert(1)</script>"\n---\nx',
  `${'<div>'.repeat(500)}<script>alert(1)</script>`,
  `${'> '.repeat(200)}<script>alert(1)</script>`,
  `${'- '.repeat(200)}[x](javascript:alert(1))`,
];

test('no known attack runs from a page, even if the page is parsed twice', () => {
  for (const attack of ATTACKS) {
    for (const markdown of [attack, `text ${attack} text`, `> ${attack}`, `- ${attack}`]) {
      const { html } = renderMarkdown(markdown);
      assertSafe(html, attack);
      assertSafe(renderMarkdown(html).html, `${attack}, rendered twice`);
    }
  }
});

test('the page is safe for any combination of markup', () => {
  const piece = fc.constantFrom(
    ...ATTACKS,
    '<',
    '>',
    '"',
    "'",
    '`',
    '](',
    '[',
    '<!--',
    '-->',
    '</',
    '&',
    '\n\n',
    '    ',
    '|',
    '\u0000',
  );
  const seed = Date.now();
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      assertSafe(renderMarkdown(pieces.join('')).html, JSON.stringify(pieces));
    }),
    { numRuns: extent(300, 60), seed },
  );
});

test('harmless content is kept: headings with anchors, tables, tasks, footnotes, code, links and images', () => {
  const { html, outline, text } = renderMarkdown(
    '# One\n\n## One\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\nNote[^1] <https://a.example> ![i](i.png)\n\n```js\nx < y\n```\n\n[^1]: The *note*.\n',
  );
  assert.deepEqual(
    outline.slice(0, 2).map(({ level, anchor }) => [level, anchor]),
    [
      [1, 'h-one'],
      [2, 'h-one-1'],
    ],
  );
  for (const { anchor } of outline)
    assert.ok(html.includes(`id="${anchor}"`), `the outline's ${anchor} is in the page`);
  for (const part of [
    '<table>',
    'type="checkbox"',
    'class="language-js"',
    'x &#x3C; y',
    'href="https://a.example"',
    'src="i.png"',
  ]) {
    assert.ok(html.includes(part), part);
  }
  const [, target] = /href="#(h-fn-1)"/.exec(html) ?? [];
  assert.ok(html.includes(`id="${target}"`), 'a footnote is found by its link');
  for (const entry of outline)
    assert.ok(text.slice(entry.offset).startsWith(entry.text), 'an offset leads to its heading');
});

test('a thematic break at the top of a page is not taken for front matter', () => {
  assert.equal(
    renderMarkdown('---\n\n- a\n\n> b\n').html,
    '<hr>\n<ul>\n<li>a</li>\n</ul>\n<blockquote>\n<p>b</p>\n</blockquote>',
  );
});

test('front matter sets title, language and description; broken YAML sets no title', () => {
  const page = renderMarkdown('---\ntitle: The Title\nlang: de\ndescription: In short\n---\n# Heading\n\nText\n');
  assert.deepEqual([page.title, page.language, page.description], ['The Title', 'de', 'In short']);
  assert.ok(!page.text.includes('lang'));
  for (const front of ['{[', 'a: *x', '- 1', '!!js/function "x"', `${'a: &a [b]\n'.repeat(3)}c: [*a, *a]`]) {
    assert.equal(renderMarkdown(`---\n${front}\n---\n# Heading\n`).title, 'Heading');
  }
});

test('every real page renders safely, and words of every script are counted', async (t) => {
  for (const folder of ['tldr/common', 'tldr/ja']) {
    const files = (await corpus(folder)) ?? { 'a.md': Buffer.from('# A\n\nSome words here.\n') };
    const started = performance.now();
    for (const [name, bytes] of Object.entries(files)) {
      const page = renderMarkdown(bytes.toString('utf8'));
      assertSafe(page.html, name);
      assert.ok(page.word_count > 0 && page.title !== '', name);
    }
    t.diagnostic(
      `${folder}: ${Math.round((Object.keys(files).length / (performance.now() - started)) * 1000)} pages/s, checked`,
    );
  }
});
