import { PAINTED_WITH, renderDocument } from './document.ts';
import { timeWords } from './elements/time-words.ts';
import { type Content, type Html, html, nothing } from './html.ts';
import { icon } from './icons.ts';
import { brand } from './people/brand.ts';
import { userMenu, wikiSwitcher } from './people/user-menu.ts';
import { searchHelp } from './search-help.ts';
import { sidebarSeparator } from './sidebar.ts';
import { breadcrumbs } from './tree.ts';
import type { Visit } from './visit.ts';
import type { WikiContext } from './wiki-context.ts';

export interface WikiDocument {
  title: string;
  main: Content;
  /** The pages above this one, from the root down. */
  trail?: readonly { path: string; title: string }[];
  /** The actions on the page, to the right of the breadcrumbs. */
  actions?: Content;
  tree?: Content;
  /** The outline, in the column next to the text. */
  aside?: Content;
  scripts?: readonly string[];
  head?: Content;
  query?: string;
  kind?: 'wiki' | 'write';
  /** The direction of the page around the text, whose blocks have their own; left to right unless stated. */
  dir?: 'ltr' | 'rtl';
  /**
   * Whether the document consists mostly of a text that may be long. Its beginning is then painted before its end has
   * arrived.
   */
  isLongText?: boolean;
  /** The page that is shown or edited. It is remembered as read and has its own commands. */
  page?: { page_id: string; path: string; title: string };
}

/** The permissions that commands of the palette need. */
const COMMAND_PERMISSIONS = [
  'pages:write',
  'uploads:create',
  'sources:read',
  'wikis:export',
  'members:manage',
  'members:read',
];

/** Renders a document of a wiki: header with search and actions, the tree of pages, and the page itself. */
export function renderInWiki(visit: Visit, context: WikiContext, document: WikiDocument): Html {
  const { wiki } = context;
  const parts = {
    title: `${document.title} · ${wiki.title}`,
    kind: document.kind ?? 'wiki',
    scripts: [...(document.scripts ?? []), ...(context.can('uploads:create') ? ['upload.js'] : [])],
    head: html`${document.tree !== undefined && !visit.isFragment && html`<script type="module" async blocking="render" src="${visit.assets.url('tree-waiting.js')}"></script>`}${document.head}`,
    ...(document.dir && { dir: document.dir }),
    isPaintedInParts: document.isLongText ?? false,
  };
  const text = html`<main id="main" tabindex="-1">${document.kind !== 'write' && pageBar(context, document)}${document.main}</main>
  ${document.aside ?? nothing}`;
  if (visit.isFragment)
    return renderDocument(visit, {
      ...parts,
      body: html`${text}${palette(context, document.page)}`,
    });
  return renderDocument(visit, { ...parts, body: wholeBody(visit, context, document, text) });
}

function wholeBody(visit: Visit, context: WikiContext, document: WikiDocument, text: Html): Html {
  const { wiki, workspace } = context;
  return html`
<a class="skip" href="#main">Skip to content</a>
<header class="top">
  ${brand(context.pageUrl(), wiki.title, workspace.organization_id)}
  ${wikiSwitcher(context)}
  <form class="find" role="search" action="${context.actionUrl('search')}">
    <label for="find" class="sr-only">Search ${wiki.title}</label>
    ${icon('search')}
    <input id="find" name="query" type="search" placeholder="Search" autocomplete="off" value="${document.query ?? ''}" required maxlength="1024">
    <kbd aria-hidden="true">Ctrl K</kbd>
    <details class="find-help">
      <summary aria-label="Search syntax" title="Search syntax">?</summary>
      <div class="menu-box">${searchHelp()}</div>
    </details>
  </form>
  <div class="do" role="group" aria-label="Actions">
    ${context.can('uploads:create') && html`<a class="button quiet" href="${context.actionUrl('upload')}" title="Upload files">${icon('upload')}<span>Upload</span></a>`}
    ${context.can('pages:write') && html`<a class="button quiet do-new" href="${context.actionUrl('new')}" title="Write a new page">${icon('plus')}<span>New page</span></a>`}
    ${userMenu(visit, context)}
  </div>
</header>
<div class="frame">
  ${document.tree !== undefined && treePanel(context, document.tree)}
  ${text}
  <footer class="end">${document.tree !== undefined && sidebarSeparator(visit)}${workspace.name} · <a href="/docs">API</a></footer>
</div>
${document.kind !== 'write' && phoneBar(context, document)}
${palette(context, document.page)}
${context.can('uploads:create') && html`<ibid-drop data-wiki="${wiki.wiki_id}" data-to="${context.actionUrl('upload')}"></ibid-drop>`}`;
}

function palette(context: WikiContext, page: WikiDocument['page']): Html {
  const { user, wiki, workspace } = context;
  const can = COMMAND_PERMISSIONS.filter((permission) => context.can(permission)).join(' ');
  return html`<ibid-palette data-wiki="${wiki.wiki_id}" data-root="${context.pageUrl()}" data-user="${user.user_id}" data-workspace="/${workspace.slug}" data-can="${can}"${
    page && html` data-page="${page.path}" data-page-id="${page.page_id}" data-title="${page.title}"`
  }></ibid-palette>`;
}

/**
 * Renders the bar at the bottom of a narrow window, within reach of the thumb. elements/organize/sheets.ts opens the
 * panels that a wide window shows next to the text.
 */
function phoneBar(context: WikiContext, { tree }: WikiDocument): Html {
  return html`<nav class="phone-bar" aria-label="Shortcuts">
  <a href="${context.actionUrl('pages')}"${tree !== undefined && html` data-sheet="tree"`}>${icon('menu')}<span>Pages</span></a>
  <a href="${context.actionUrl('search')}" data-sheet="search">${icon('search')}<span>Search</span></a>
  <a class="needs-script" href="#main" data-sheet="outline">${icon('outline')}<span>On this page</span></a>
  ${context.can('pages:write') && html`<a href="${context.actionUrl('new')}">${icon('plus')}<span>New page</span></a>`}
</nav>`;
}

/** Renders the row above every page: the breadcrumbs and the page's actions. */
function pageBar(context: WikiContext, { trail = [], actions, isLongText }: WikiDocument): Html {
  return html`<div class="page-bar">${breadcrumbs(context, trail)}${actions !== undefined && html`<div class="page-do">${actions}</div>`}</div>${isLongText && PAINTED_WITH}`;
}

function treePanel(context: WikiContext, tree: Content): Html {
  return html`<nav class="tree" aria-label="Pages">
    <details class="tree-fold">
      <summary>${icon('menu')} Pages</summary>
      <form class="tree-filter" action="${context.actionUrl('search')}"><input name="query" type="search" aria-label="Filter pages" placeholder="Filter pages" autocomplete="off" maxlength="1024" required></form>
      ${tree}
      <ul class="tree-more">
        <li><a href="${context.actionUrl('overview')}">${icon('history')} Overview</a></li>
        ${context.can('sources:read') && html`<li><a href="${context.actionUrl('sources')}">${icon('source')} Sources</a></li>`}
        ${
          context.can('pages:write') &&
          html`<li><a href="${context.actionUrl('trash')}">${icon('trash')} Trash</a></li>
        <li><a href="${context.actionUrl('gone')}">${icon('missing')} Missing files</a></li>
        <li><a href="${context.actionUrl('broken-links')}">${icon('unlink')} Broken links</a></li>`
        }
        ${context.can('wikis:export') && html`<li><a href="${context.actionUrl('transfer')}">${icon('upload')} Export and import</a></li>`}
      </ul>
    </details>
  </nav>`;
}

/** Renders a document outside any wiki: sign-in, welcome, invitations, problems. */
export function renderAlone(
  visit: Visit,
  { title, main, scripts, head }: { title: string; main: Content; scripts?: string[]; head?: Content },
): Html {
  return renderDocument(visit, {
    title: `${title} · Ibid`,
    kind: 'plain',
    ...(scripts && { scripts }),
    ...(head && { head }),
    body: html`<main id="main" class="card"><p class="mark big" aria-hidden="true">ib.</p>${main}</main>`,
  });
}

/** Shows why a form was refused, above the form. */
export function problemNote(problem: { message: string; request_id: string } | undefined): Content {
  return (
    problem !== undefined &&
    html`<div class="note bad" role="alert"><p>${problem.message}</p><p class="small">Request <code>${problem.request_id}</code></p></div>`
  );
}

/** Renders a time in UTC; reader.js rewrites it in the reader's time zone. */
export function time(at: string): Html {
  return html`<time datetime="${at}" title="${at}">${timeWords(new Date(at), 0)}</time>`;
}
