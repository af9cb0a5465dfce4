import { type Content, fromApi, type Html, html, nothing } from '../html.ts';
import { icon } from '../icons.ts';
import { problemNote, renderInWiki, time } from '../layout.ts';
import { face } from '../people/face.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { loadWikiContext } from '../wiki-context.ts';

/**
 * Shows every component of the style sheets within a real page, for developers of the styles and for visual tests.
 * `?theme=dark&dir=rtl`. Exists only if the service runs with STYLEGUIDE=on.
 */
export const styleguide: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/styleguide',
  handle: async (given) => {
    const theme = given.query.get('theme');
    const visit: Visit = { ...given, theme: theme === 'light' || theme === 'dark' ? theme : given.theme };
    const context = await loadWikiContext(visit);
    const branches = await loadBranches(visit.api, context);
    return {
      page: renderInWiki(visit, context, {
        title: 'Styleguide',
        dir: visit.query.get('dir') === 'rtl' ? 'rtl' : 'ltr',
        tree: renderTree(context, branches),
        trail: ['First', 'Second', 'Third', 'Fourth'].map((title, i) => ({ path: `p${i}`, title })),
        actions: html`<a class="button" href="#buttons">${icon('edit')} Edit</a>`,
        aside: html`<nav class="outline" aria-label="On this page"><h2>On this page</h2><ol>
          ${SECTIONS.map(([name]) => html`<li class="level-2"><a href="#${idOf(name)}">${name}</a></li>`)}</ol></nav>`,
        scripts: ['reading.js'],
        main: html`<article><header class="page-head"><h1>Styleguide</h1><div class="byline"><a href="#text">${face({ display_name: 'Ada', email: '', avatar_url: '' }, 'small')}Changed by Ada, ${time('2026-01-01T12:00:00Z')}</a></div></header>
          ${SECTIONS.map(([name, content]) => html`<section aria-labelledby="${idOf(name)}"><h2 id="${idOf(name)}">${name}</h2>${content()}</section>`)}</article>`,
      }),
    };
  },
};

const idOf = (name: string) => name.toLowerCase().replaceAll(' ', '-');

/** The groups of components. Texts are the HTML that a page's Markdown produces. */
const SECTIONS: readonly [name: string, content: () => Content][] = [
  ['Text', text],
  ['Right to left', rightToLeft],
  ['Code', code],
  ['Callouts', callouts],
  ['Buttons', buttons],
  ['Forms', forms],
  ['Messages', messages],
  ['Tags', tags],
  ['Lists and tables', lists],
  ['Cards', cards],
  ['Search results', searchResults],
  ['Progress', progress],
  ['Menus', menus],
  ['Icons', icons],
];

function text(): Html {
  return html`<div class="prose"><h3 id="h3">A heading of the third level</h3><h4 id="h4">And of the fourth</h4>
    <p>A paragraph with <a href="#text">a link</a>, <strong>strong</strong> and <em>emphasized</em> words, <code>code</code>, <mark>a mark</mark>, <kbd>Ctrl K</kbd> and <a class="wiki missing" href="#text">a link to a missing page</a>.</p>
    <ul><li>One<ul><li>Below it</li></ul></li><li>Two</li></ul><ol><li>First</li><li>Second</li></ol>
    <blockquote><p>A quotation.</p></blockquote><hr><details><summary>Unfolds</summary><p>What was folded.</p></details>
    <figure class="transclusion"><figcaption><a class="wiki" href="#text">Another page</a></figcaption><p>Its text.</p></figure>
    <table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td>One</td><td>1</td></tr><tr><td>Two</td><td>2</td></tr></tbody></table></div>`;
}

function rightToLeft(): Html {
  return html`<div class="prose"><p dir="auto" lang="ar">هذه فقرة عربية مع <a href="#text">رابط</a>.</p><ul dir="auto" lang="he"><li>אחת</li><li>שתיים</li></ul><p lang="ja">日本語の段落です。</p></div>`;
}

function code(): Html {
  return html`<div class="prose"><pre tabindex="0"><code class="language-js"><span class="hljs-comment">// A comment</span>
<span class="hljs-keyword">const</span> <span class="hljs-title">answer</span> = <span class="hljs-number">42</span> + <span class="hljs-string">'a string'</span>;</code></pre></div>`;
}

function callouts(): Html {
  const kinds = ['note', 'tip', 'important', 'warning', 'caution'];
  return html`<div class="prose">${kinds.map((kind) => html`<div class="callout ${kind}"><p class="callout-title">${kind}</p><p>What it says, with <a href="#callouts">a link</a>.</p></div>`)}</div>`;
}

function buttons(): Html {
  return html`<p class="row-of-buttons"><button type="button" class="button main">Main</button> <button type="button" class="button">Plain</button> <button type="button" class="button quiet">Quiet</button> <button type="button" class="button bad">Bad</button> <a class="button" href="#buttons">${icon('plus')} Link</a></p>`;
}

function forms(): Html {
  return html`<form class="stack" action="#forms"><label>Title <input name="title" value="A title"></label>
    <label>Parent page <span class="hint">its address</span> <input name="parent" placeholder="none"></label>
    <p class="or">or</p><p class="row-of-buttons"><button class="button main">Save</button></p></form>`;
}

function messages(): Html {
  return html`<p class="note">A note with <a href="#messages">a link</a>.</p><div class="note good"><p>It was done.</p></div>
    ${problemNote({ message: 'It was refused: do this instead.', request_id: 'req_1' })}<p class="empty">Nothing is here yet.</p><p class="small">Small words.</p>`;
}

function tags(): Html {
  return html`<ul class="page-tags"><li><a class="page-tag" href="#tags">tag</a></li><li><a class="page-tag" href="#tags">another</a></li></ul><p>A page <span class="tag">draft</span></p>`;
}

function lists(): Html {
  return html`<ul class="list"><li class="between"><span><strong>A record</strong><br><span class="small">what is said of it</span></span><button type="button" class="button">Restore</button></li><li>Another</li></ul>
    <div class="scroll" tabindex="0" role="region" aria-label="A table"><table><thead><tr><th>When</th><th>What</th></tr></thead><tbody><tr><td>Today</td><td>Something</td></tr></tbody></table></div>
    <dl class="facts"><dt>Size</dt><dd>10 kB</dd><dt>Pages</dt><dd>2</dd></dl>`;
}

function cards(): Html {
  return html`<ul class="doors"><li><a href="#cards"><strong>A wiki</strong><span class="small">12 pages</span></a></li><li><a href="#cards"><strong>Another</strong><span class="small">1 page</span></a></li></ul>
    <nav class="neighbours" aria-label="Neighbouring pages"><a rel="prev" href="#cards"><span class="small">Previous</span> One</a><a rel="next" href="#cards"><span class="small">Next</span> Two</a></nav>`;
}

function searchResults(): Html {
  // The markup of a snippet comes from the API.
  const snippet = fromApi('A text with the <mark>word</mark> in it.');
  return html`<div class="hit"><h3><a href="#search-results">A page</a></h3><p class="small">guide/a-page</p><p>${snippet}</p></div>`;
}

function progress(): Html {
  return html`<p><label>Uploading <progress max="100" value="40">40 %</progress></label></p>`;
}

function menus(): Html {
  const item = (name: string, bad: Content = nothing) => html`<li><button type="button"${bad}>${name}</button></li>`;
  return html`<details class="menu start"><summary class="button">A menu</summary><div class="menu-box"><ul>${item('Rename')}${item('Copy link')}</ul><ul>${item('Delete', html` class="bad"`)}</ul></div></details>`;
}

function icons(): Html {
  const names = [
    'search',
    'plus',
    'upload',
    'edit',
    'history',
    'menu',
    'outline',
    'chevron',
    'page',
    'trash',
    'source',
    'link',
  ] as const;
  return html`<p>${names.map((name) => html`${icon(name)} ${name} `)}</p>`;
}
