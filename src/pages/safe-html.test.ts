import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Element, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { renderMarkdown } from './render.ts';
import { sanitized, writeHtml } from './safe-html.ts';

const parser = unified().use(rehypeParse, { fragment: true }).freeze();

/** What a page may be made of; written down apart from the sanitizer's own list, so that neither can drift alone. */
const TAGS = new Set(
  (
    'a abbr b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 ' +
    'h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup ' +
    'table tbody td tfoot th thead time tr tt u ul var wbr'
  ).split(' '),
);
const ATTRIBUTES = new Set(
  (
    'align alt ariaDescribedBy ariaLabel checked className colSpan dataFootnoteBackref dataFootnoteRef dataFootnotes ' +
    'dateTime dir disabled height href id lang loading open referrerPolicy rel rowSpan scope src start title type width'
  ).split(' '),
);
const CLASSES = /^(?:language-.+|task-list-item|contains-task-list|footnotes|sr-only|data-footnote-backref)$/;

function walk(node: Root | Element, each: (element: Element) => void): void {
  for (const child of node.children) {
    assert.ok(child.type === 'element' || child.type === 'text', `a ${child.type} must not be in a page`);
    if (child.type !== 'element') continue;
    each(child);
    walk(child, each);
  }
}

function assertSafe(html: string, source: string): void {
  const context = `rendered from ${JSON.stringify(source.slice(0, 200))}: ${html.slice(0, 300)}`;
  const ids = new Set<string>();
  walk(parser.parse(html), ({ tagName, properties }) => {
    assert.ok(TAGS.has(tagName), `<${tagName}> must not be in a page, ${context}`);
    for (const name of Object.keys(properties)) {
      assert.ok(ATTRIBUTES.has(name), `the attribute ${name} of <${tagName}> must not be in a page, ${context}`);
    }
    for (const name of ['href', 'src'] as const) {
      if (properties[name] === undefined) continue;
      const url = URL.parse(String(properties[name]), 'https://wiki.example/folder/page');
      const schemes = name === 'src' ? ['https:', 'http:'] : ['https:', 'http:', 'mailto:'];
      assert.ok(url && schemes.includes(url.protocol), `the address ${properties[name]} must not be, ${context}`);
      if (name === 'src' || url.host === 'wiki.example' || url.protocol === 'mailto:') continue;
      assert.deepEqual(properties.rel, ['nofollow', 'noopener', 'noreferrer'], `an address elsewhere, ${context}`);
    }
    for (const name of (properties.className ?? []) as string[]) {
      assert.match(name, CLASSES, `the class ${name} must not be in a page, ${context}`);
    }
    if (properties.id !== undefined) {
      const id = String(properties.id);
      assert.match(id, /^h-./, `the id ${id} could stand in for something of ours, ${context}`);
      assert.ok(!ids.has(id), `the id ${id} must be there once, ${context}`);
      ids.add(id);
    }
    if (tagName === 'input') assert.deepEqual([properties.type, properties.disabled], ['checkbox', true], context);
  });
}

const SCRIPT_ADDRESSES = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'javascript&colon;alert(1)',
  'javascript&#58;alert(1)',
  'javascript&#x3A;alert(1)',
  '&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;alert(1)',
  '&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A;alert(1)',
  'java&Tab;script:alert(1)',
  'java&NewLine;script:alert(1)',
  'java&#10;script:alert(1)',
  'java&#13;script:alert(1)',
  '&#1;javascript:alert(1)',
  '&#x20;javascript:alert(1)',
  '&#xA0;javascript:alert(1)',
  'javascript\\:alert(1)',
  'javascript%3Aalert(1)',
  'javascript://%0Aalert(1)',
  'javascript:/*--></title></style>*/alert(1)',
  'vbscript:msgbox(1)',
  'VBScript:msgbox(1)',
  'livescript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
  'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+',
  'data:image/png;base64,iVBORw0KGgo=',
  'feed:javascript:alert(1)',
  'view-source:javascript:alert(1)',
  'blob:https://wiki.example/x',
  'file:///etc/passwd',
  'filesystem:https://wiki.example/x',
  'jar:https://evil.example/x!/y',
  'ms-word:ofe|u|https://evil.example',
  'x:y',
  '//evil.example/x',
  '/\\evil.example/x',
  '\\\\evil.example/x',
  '/\t/evil.example/x',
  'https:evil.example',
  'http:/evil.example',
  'http://[',
];

const DOCUMENTS = [
  ...SCRIPT_ADDRESSES.flatMap((url) => [
    `[x](${url})`,
    `[x](<${url}>)`,
    `![x](${url})`,
    `<${url}>`,
    `[x]\n\n[x]: ${url}`,
    `[x]\n\n[x]: <${url}>`,
    `![x]\n\n[x]: ${url}`,
    `<a href="${url}">x</a>`,
    `<a href='${url}' target=_blank rel=opener>x</a>`,
    `<img src="${url}" srcset="${url} 2x" lowsrc="${url}" dynsrc="${url}">`,
    `<video src="${url}" poster="${url}"><source src="${url}"></video>`,
    `<blockquote cite="${url}">x</blockquote>`,
    `<form action="${url}"><button formaction="${url}">x</button><input type=image src="${url}"></form>`,
    `<svg><a xlink:href="${url}"><text>x</text></a><use href="${url}"/></svg>`,
    `<math><mtext href="${url}" xlink:href="${url}">x</mtext></math>`,
    `<base href="${url}"><link rel=stylesheet href="${url}"><meta http-equiv=refresh content="0;url=${url}">`,
  ]),
  '<script>alert(1)</script>',
  '<SCRIPT SRC=https://evil.example/x.js></SCRIPT>',
  '<script>alert(1)',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  'a <script> b\n\n</script> c',
  '<img src=x onerror=alert(1)>',
  '<img src=x\nonerror\n=\nalert(1)//',
  '<IMG """><SCRIPT>alert(1)</SCRIPT>">',
  '<img src="x` `<script>alert(1)</script>"` `>',
  '<body onload=alert(1)><frameset onload=alert(1)>',
  '<details open ontoggle=alert(1)><summary onclick=alert(1)>x</summary></details>',
  '<a href="#" onclick=alert(1) style="position:fixed;inset:0" class="button danger">x</a>',
  '<div style="background:url(javascript:alert(1))" background="javascript:alert(1)">x</div>',
  '<style>@import "https://evil.example/x.css"; * { color: red }</style>',
  '<style><img src="</style><img src=x onerror=alert(1)>">',
  '<svg><script>alert(1)</script></svg>',
  '<svg onload=alert(1)>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
  '<svg><foreignObject><iframe srcdoc="<script>alert(1)</script>"></iframe></foreignObject></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s><set attributeName=href to="javascript:alert(1)"></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<math><annotation-xml encoding="text/html"><script>alert(1)</script></annotation-xml></math>',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<xmp><p title="</xmp><img src=x onerror=alert(1)>"></xmp>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<noembed><img title="</noembed><img src=x onerror=alert(1)>">',
  '<textarea><img title="</textarea><img src=x onerror=alert(1)>">',
  '<title><img title="</title><img src=x onerror=alert(1)>">',
  '<plaintext><img src=x onerror=alert(1)>',
  '<template><img src=x onerror=alert(1)><script>alert(1)</script></template>',
  '<select><template><img src=x onerror=alert(1)></template></select>',
  '<table><td background="javascript:alert(1)"><script>alert(1)</script></td></table>',
  '<table><tr><caption><img src=x onerror=alert(1)></caption><svg><desc><script>alert(1)</script></desc></svg></table>',
  '<iframe src="javascript:alert(1)" srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="data:text/html,<script>alert(1)</script>"><param name=src value=x></object><embed src=x>',
  '<portal src=x></portal><dialog open>x</dialog><marquee onstart=alert(1)>x</marquee>',
  '<input onfocus=alert(1) autofocus><input type=checkbox onclick=alert(1)><button type=submit>x</button>',
  '<custom-element is=x onclick=alert(1)>x</custom-element><p is="x-y" slot=z part=q>x</p>',
  '<p itemscope itemtype=x itemprop=y data-x=y contenteditable draggable=true accesskey=x tabindex=1>x</p>',
  '<a href=x ping="https://evil.example/ping" download target=_top referrerpolicy=unsafe-url>x</a>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<!-- --!><img src=x onerror=alert(1)> -->',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<?xml version="1.0"?><img src=x onerror=alert(1)>',
  '<!DOCTYPE html [<!ENTITY x "<script>alert(1)</script>">]>&x;',
  '```"><script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```',
  '```js" onmouseover="alert(1)\nx\n```',
  '`<img src=x onerror=alert(1)>`',
  '```mermaid\ngraph TD; A["<img src=x onerror=alert(1)>"]\n```',
  '$$\\href{javascript:alert(1)}{x}$$',
  '[x](https://x "onmouseover=alert(1) \\" onclick=\\"alert(1)")',
  '![x" onerror="alert(1)](https://x/y.png)',
  '[![x](javascript:alert(1))](javascript:alert(2))',
  '[a[^1] <https://x.example> b](x)\n\n[^1]: y',
  '<https://x"onmouseover=alert(1)>',
  'https://x/"onmouseover="alert(1)',
  'www.x.com"onclick="alert(1)',
  'javascript:alert(1) xmpp:a@b.c mailto:a@b.c?body=<script>',
  '# cookie\n\n# `__proto__`\n\n# toString\n\n# constructor\n\n# body\n\n# forms\n\n# location',
  '<h1 id=cookie>x</h1><a name=body>x</a><img name=getElementById src=x><form name=forms id=x></form>',
  '<a id=x><a id=x name=y>x</a><p id="a b">x</p><p id="">x</p><p id="h-">x</p><p id=h-x>x</p>',
  'x[^__proto__] y[^constructor] z[^<img src=x onerror=alert(1)>]\n\n[^__proto__]: x\n[^constructor]: y\n' +
    '[^<img src=x onerror=alert(1)>]: <script>alert(1)</script>',
  '# <img src=x onerror=alert(1)>\n\n## <a name="x" href="javascript:alert(1)">x</a>',
  '| <img src=x onerror=alert(1)> | <script>alert(1)</script> |\n|---|---|\n| <svg onload=alert(1)> | x |',
  '---\ntitle: "<script>alert(1)</script>"\n---\n\nx',
  '---\n<script>alert(1)</script>\n---',
  `${'<div>'.repeat(200)}<img src=x onerror=alert(1)>`,
  `${'> '.repeat(100)}<script>alert(1)</script>`,
  `${'<svg>'.repeat(100)}${'<style>'.repeat(100)}<img src=x onerror=alert(1)>`,
  '\u2028<script>alert(1)</script>\u2029',
  '\ufeff<img src=x onerror=alert(1)>',
];

test('nothing that a text holds can run, load or post anything in a page', () => {
  for (const document of DOCUMENTS) assertSafe(renderMarkdown(document).html, document);
});

test('what is safe already stays as it is when it is parsed and made safe once more', () => {
  for (const document of DOCUMENTS) {
    const { html } = renderMarkdown(document);
    const again = writeHtml(sanitized(parser.parse(html)));
    assert.equal(again, html, `rendered from ${JSON.stringify(document.slice(0, 200))}`);
  }
});

test('no mixture of markup comes out unsafe, or as something that a browser would parse otherwise', () => {
  const pieces = fc.constantFrom(
    ...'<svg> </svg> <math> <style> </style> <script> </script> <title> <xmp> <table> <tr> <td> </table> <select>'.split(
      ' ',
    ),
    ...'<p> </p> <div> </div> <a </a> <img <!-- --> > " \' ` ``` [x]( ) ![ ] [x]: [^1] [^1]: # - | --- * _ & \\'.split(
      ' ',
    ),
    ...['\n', '\n\n', '    ', ' onerror=alert(1) ', ' id=x ', ' name=cookie ', ' style=x ', '<template>', '<noscript>'],
    ...[' href=javascript:alert(1) ', ' src=data:text/html,x ', 'javascript:', 'https://x.example', '&#106;', '&Tab;'],
    'text',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      const document = parts.join('');
      const { html } = renderMarkdown(document);
      assertSafe(html, document);
      assert.equal(writeHtml(sanitized(parser.parse(html))), html);
    }),
    { numRuns: 1_000 },
  );
});

test('headings and footnotes are found under ids that no property of a document has', () => {
  const { html, outline } = renderMarkdown('# cookie\n\nx[^toString]\n\n# `__proto__`\n\n[^toString]: y');
  assert.deepEqual(
    outline.map(({ anchor }) => anchor),
    ['h-cookie', 'h-__proto__'],
  );
  for (const { anchor } of outline) assert.ok(html.includes(`id="${anchor}"`), `${anchor} must be an id in ${html}`);
  assert.match(html, /<a href="#h-fn-tostring"[^>]* id="h-fnref-tostring"/);
  assert.match(html, /<li id="h-fn-tostring">/);
});

test('a fragment leads to the heading whose name it is, in this page and in another one', () => {
  const { html } = renderMarkdown('# Über uns\n\n[a](#über-uns) [b](#%C3%BCber-uns) [c](other/page#Set%20Up) [d](#)');
  const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map((match) => decodeURIComponent(match[1] ?? ''));
  assert.deepEqual(hrefs, ['#h-über-uns', '#h-über-uns', 'other/page#h-set-up', '#']);
});

test('links elsewhere say that we do not vouch for them, links within the wiki do not', () => {
  const { html } = renderMarkdown('[a](https://x.example) [b](HTTP://x.example) [c](../page) [d](mailto:a@x.example)');
  assert.match(html, /<a href="https:\/\/x\.example" rel="nofollow noopener noreferrer">a</);
  assert.match(html, /<a href="http:\/\/x\.example" rel="nofollow noopener noreferrer">b</);
  assert.match(html, /<a href="\.\.\/page">c</);
  assert.match(html, /<a href="mailto:a@x\.example">d</);
});

test('harmless HTML in a text stays, and HTML that swallows text does not swallow it', () => {
  const { html } = renderMarkdown(
    '<details><summary>More</summary>\n\nH<sub>2</sub>O <kbd>Ctrl</kbd>\n\n</details>\n\n<div align=center><img src="x.png" width=40></div>',
  );
  assert.match(html, /<details><summary>More<\/summary>\n<p>H<sub>2<\/sub>O <kbd>Ctrl<\/kbd><\/p>\n<\/details>/);
  assert.match(html, /<div align="center"><img src="x\.png" width="40"/);
  for (const tag of [
    'title',
    'xmp',
    'plaintext',
    'textarea',
    'noscript',
    'template',
    'select',
    'svg',
    'style',
    'script',
  ]) {
    const { text } = renderMarkdown(`the <${tag}> tag\n\n# After\n\nit`);
    assert.match(text, /After\s+it$/, `what comes after <${tag}> must be shown`);
  }
  const { text } = renderMarkdown('before\n\n<style>p { color: red }</style>\n\n<script>alert(1)</script>\n\nafter');
  assert.equal(text, 'before\nafter');
});
