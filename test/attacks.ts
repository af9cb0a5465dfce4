import { createRequire } from 'node:module';

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

const DOCUMENTS: readonly string[] = [
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

/** Mutation-based sanitizer bypasses: markup that a second parser reads differently from the first. */
const MUTATIONS = [
  '<math><mtext><table><mglyph><style><math><img src onerror=alert(1)></style></mglyph></table></mtext></math>',
  '<math><mtext><h1><a><h6></a></h6><mglyph><svg><mtext><style><a title="</style><img src onerror=alert(1)>"></style></h1>',
  '<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=alert(1) src>">',
  '<svg></p><title><a id="</title><img src=x onerror=alert(1)>"></title></svg>',
  '<svg><p><style><g title="</style><img src onerror=alert(1)>">',
  '<svg><desc><svg><desc></desc><style><a id="</style><img src=1 onerror=alert(1)>"></a></style></svg></desc></svg>',
  '<svg><annotation-xml><foreignobject><style><!--</style><p id="--><img src=x onerror=alert(1)>">',
  '<math><annotation-xml encoding="text/html"><style><img src=x onerror=alert(1)></style></annotation-xml></math>',
  '<table><math><select><mtext><img src=x onerror=alert(1)></mtext></select></math></table>',
  '<noscript><style></noscript><img src=x onerror=alert(1)></style>',
  '<xmp><svg></xmp><img src=x onerror=alert(1)></svg>',
  '<noembed><style></noembed><img src=x onerror=alert(1)></style>',
  '<noframes><style></noframes><img src=x onerror=alert(1)></style>',
  '<iframe><img title="</iframe><img src=x onerror=alert(1)>"></iframe>',
  '<style><![CDATA[</style><img src=x onerror=alert(1)>]]>',
  '<svg><![CDATA[><img src=x onerror=alert(1)>]]></svg>',
  '<svg><style><![CDATA[</style><img src=x onerror=alert(1)>]]>',
  '<pre>\n\n<img src=x onerror=alert(1)></pre><pre>\n\n\nx</pre>',
  '<!--[if gte IE 4]><script>alert(1)</script><![endif]-->',
  '<!-- --\\!><img src=x onerror=alert(1)> -->',
  '<?img ><img src=x onerror=alert(1)>?>',
  '<a\u000bhref="javascript:alert(1)">x</a><a/href="javascript:alert(1)">x</a>',
  '<img/src=`x`onerror=alert(1)><img\u000csrc=x\u000conerror=alert(1)>',
  '<div id="x"><a id="h-x" name="h-x"></a></div><form id="h-x" name="attributes"><input name="attributes"></form>',
  '<template shadowrootmode=open><img src=x onerror=alert(1)></template>',
  '<div popover id=x onbeforetoggle=alert(1)>x</div><button popovertarget=x>y</button>',
  '<input type=hidden oncontentvisibilityautostatechange=alert(1) style=content-visibility:auto>',
  '<img srcset="x 1x, javascript:alert(1) 2x" sizes="(max-width: 1px) 1px" onload=alert(1)>',
  '<picture><source srcset=x onerror=alert(1)><img src=x onerror=alert(1)></picture>',
  '<a href="https://x.example" attributionsrc="https://evil.example" ping=x>x</a>',
  '<p><math><mi xlink:href="javascript:alert(1)">x</mi><maction actiontype="statusline#x" xlink:href="javascript:alert(1)">x</maction></math>',
];

/** Every element with the attributes that would run code in it, as lists of attacks have them. */
const HANDLERS = (
  'a abbr animate applet area article audio base bgsound blockquote body br button canvas code custom-tag del details dialog div ' +
  'embed fieldset font foreignobject form frame frameset h1 head hr html iframe image img input ins isindex kbd keygen label ' +
  'legend li link listing main map mark marquee math menu meta meter nextid object ol optgroup option output p param portal ' +
  'pre progress q script section select set slot source span style sub summary svg table td template textarea th time title ' +
  'tr track tt u ul use var video wbr xmp xss'
)
  .split(' ')
  .map(
    (tag) =>
      `<${tag} src=x href=javascript:alert(1) data=javascript:alert(1) action=javascript:alert(1) style="animation:x" ` +
      `onerror=alert(1) onload=alert(1) onclick=alert(1) onmouseover=alert(1) onfocus=alert(1) autofocus tabindex=1 ` +
      `ontoggle=alert(1) onbegin=alert(1) onstart=alert(1) onanimationstart=alert(1) onpointerenter=alert(1)>x</${tag}>`,
  );

/** Bypasses found in DOMPurify's first years, from its own tests (MPL 2.0 or Apache 2.0). */
const FIXTURES = (
  createRequire(import.meta.url)('dompurify-fixtures/test/fixtures/expect.js') as { payload: string }[]
).map(({ payload }) => payload);

const PLACES: readonly ((attack: string) => string)[] = [
  (attack) => `# ${attack}\n\ntext`,
  (attack) =>
    `---\ntitle: ${JSON.stringify(attack)}\ndescription: ${JSON.stringify(attack)}\nlang: ${JSON.stringify(attack)}\n---\n`,
  (attack) => `text ${attack} text`,
  (attack) => `> - ${attack}`,
  (attack) => `| ${attack} |\n|---|\n| ${attack} |`,
  (attack) => `[${attack}](https://x.example "${attack}") ![${attack}](x.png)`,
  (attack) => `x[^${attack}]\n\n[^${attack}]: ${attack}\n`,
  (attack) => `\`\`\`html\n${attack}\n\`\`\`\n\n\`\`\`mermaid\n${attack}\n\`\`\`\n\n\`\`\`math\n${attack}\n\`\`\``,
  (attack) => `\`\`\`${attack}\nx\n\`\`\``,
  (attack) => `$${attack}$ $$${attack}$$\n\n$$\n${attack}\n$$`,
  (attack) => `[[${attack}]] [[x|${attack}]] [[x#${attack}]] [[#${attack}]]`,
  (attack) => `${'<div>'.repeat(120)}${attack}`,
];

const PIECES = [...MUTATIONS, ...HANDLERS, ...FIXTURES];

/** Markdown that tries to run scripts, load resources, submit forms or spoof the interface in a reader's browser. */
export const ATTACKS: readonly string[] = [...DOCUMENTS, ...PIECES];

/** The pieces distributed over all places in rotation, so that every place gets many of them. */
export const PLACED_ATTACKS: readonly string[] = [
  ...PIECES.flatMap((attack, i) => [0, 1, 2].map((n) => PLACES[(3 * i + n) % PLACES.length]?.(attack) ?? '')),
  ...MUTATIONS.flatMap((attack) => PLACES.map((place) => place(attack))),
  ...['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>'].flatMap((attack) => [
    ...PLACES.map((place) => place(attack)),
    `${'> '.repeat(500)}${attack}`,
    `${'- '.repeat(500)}${attack}`,
    `${'['.repeat(500)}${attack}${'](x)'.repeat(500)}`,
  ]),
];
