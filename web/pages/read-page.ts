import type { FullPage, Page, PageProperties } from '../../src/pages/schema.ts';
import type { Revision } from '../../src/revisions/schema.ts';
import type { IncompleteSource } from '../../src/sources/schema.ts';
import { Problem } from '../api.ts';
import { BRANCH_PAGE_SIZE, type Branch } from '../elements/branch.ts';
import { type Content, type Html, html, nothing } from '../html.ts';
import { icon } from '../icons.ts';
import { renderInWiki, time } from '../layout.ts';
import { incompleteNote, loadIncomplete } from '../losses.ts';
import { pageActions } from '../page-actions.ts';
import { pageText, scriptsFor } from '../page-text.ts';
import { type ListPart, partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree, trailTo } from '../tree.ts';
import type { Visit, WebResponse, WebRoute } from '../visit.ts';
import { encodePath, loadWikiContext, requestedPath, type WikiContext } from '../wiki-context.ts';
import { noSuchPage } from './no-such-page.ts';
import { pageSources, pageSourcesUrl, stalenessReason } from './page-sources.ts';
import { loadProperties, pageTags } from './tags.ts';

const BACKLINKS = 20;
const RELATED = 5;

export const readPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/*',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const path = requestedPath(visit);
    if (path === '') return { redirect: context.pageUrl(), status: 308 };
    let page: FullPage;
    try {
      page = await visit.api.get<FullPage>(`${context.api}/pages/path/${encodePath(path)}`);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return noSuchPage(visit, context, path);
      throw error;
    }
    if (page.path !== path || visit.params['*'] !== path) return { redirect: context.pageUrl(page.path), status: 308 };
    if (visit.query.has('sources')) return pageSources(visit, context, page);
    const around = loadBranches(visit.api, context, page.page_id);
    const [branches, excerpts, author, backlinks, properties, staleness, incomplete] = await Promise.all([
      around,
      around.then((branches) => loadExcerpts(visit, context, page, branches)),
      authorOf(visit, context, page),
      readPart<Page>(visit, `${context.api}/pages/${page.page_id}/backlinks?limit=${BACKLINKS}`, { name: 'backlinks' }),
      loadProperties(visit.api, context, page),
      page.stale ? stalenessReason(visit.api, context, page) : '',
      loadIncomplete(visit.api, context, page),
    ]);
    return renderPage(visit, context, page, {
      branches,
      excerpts,
      author,
      backlinks,
      properties,
      staleness,
      incomplete,
    });
  },
};

/** What is shown around the text of a page. */
interface PageSurroundings {
  branches: readonly Branch[];
  /** How the pages right below it begin, by page_id. */
  excerpts: ReadonlyMap<string, string>;
  /** What the member is called who changed the page last; "" where that is not known. */
  author: string;
  backlinks: ListPart<Page>;
  properties: PageProperties;
  /** Why the page is stale; "" if it is not. */
  staleness: Content;
  /** Its sources that have more than their text. */
  incomplete: readonly IncompleteSource[];
}

function renderPage(
  visit: Visit,
  context: WikiContext,
  page: FullPage,
  { branches, excerpts, author, backlinks, properties, staleness, incomplete }: PageSurroundings,
): WebResponse {
  const by = byline(context, page, author);
  const hasTitle = startsWithTitle(page);
  return {
    page: renderInWiki(visit, context, {
      title: page.title,
      page,
      tree: renderTree(context, branches, page.page_id),
      aside: outlineNav(page),
      scripts: [...scriptsFor(page.html), ...(page.citations.length > 0 ? ['passages.js'] : [])],
      trail: trailTo(branches, page.page_id).slice(0, -1),
      actions: pageActions(context, page),
      main: html`<article>
          <header class="page-head">
            ${!hasTitle && html`<h1>${page.title}</h1>${by}`}
            ${pageTags(context, properties)}
            ${pageState(page, staleness)}
          </header>
          ${page.citations.length > 0 && html`<ibid-passages data-from="${pageSourcesUrl(context, page.path)}"></ibid-passages>`}
          <div class="prose"${context.can('pages:write') && html` data-wiki="${page.wiki_id}" data-page="${page.page_id}" data-revision="${page.revision}"`}>${pageText(context, hasTitle ? { html: page.html.replace('</h1>', (end) => `${end}${by.text}`) } : page)}</div>
          <footer class="page-end">
            ${neighbours(context, page, branches)}
            ${childList(context, page, branches, excerpts)}
            ${sourceList(context, page)}
            ${incompleteNote(context, incomplete)}
            ${backlinkList(context, backlinks)}
            <ibid-related data-from="${context.api}/pages/${page.page_id}/related?limit=${RELATED}" data-base="${context.pageUrl()}"></ibid-related>
            <p class="small">Revision ${page.revision}. ${page.word_count} words.</p>
          </footer>
        </article>`,
    }),
  };
}

/** Whether the text begins with the title, as most uploaded files do; it is then not shown twice. */
function startsWithTitle({ html: text, outline, title }: FullPage): boolean {
  return text.trimStart().startsWith('<h1') && outline[0]?.level === 1 && outline[0].text.trim() === title.trim();
}

async function authorOf({ api }: Visit, { user, api: wiki }: WikiContext, page: FullPage): Promise<string> {
  if (page.updated_by === user.user_id) return user.display_name;
  const of = `limit=1&offset=${page.revision - 1}`;
  const [last] = await api.get<Revision[]>(`${wiki}/pages/${page.page_id}/revisions?${of}`);
  // Who moved a page made no revision of it.
  return last?.created_by === page.updated_by ? last.created_by_name : '';
}

/** Who changed the page last and when, below its title. It is no block of the text: see elements/passages.ts. */
function byline(context: WikiContext, page: FullPage, author: string): Html {
  const done = page.revision > 1 ? 'Changed' : page.origin === 'compiled' ? 'Uploaded' : 'Written';
  return html`<div class="byline"><a href="${context.actionUrl('history', page.path)}">${done}${author !== '' && html` by <span dir="auto">${author}</span>`}, ${time(page.updated_at)}</a></div>`;
}

function pageState(page: FullPage, staleness: Content): Content {
  if (page.stale) return html`<div class="note stale"><p>${staleness}</p></div>`;
  if (page.status === 'draft') return html`<p class="note">This is a draft: only people who can edit see it.</p>`;
  if (page.status === 'archived') return html`<p class="note">Archived: searches leave out this page.</p>`;
  return nothing;
}

function outlineNav({ outline }: FullPage): Content {
  const entries = outline.filter(({ level }, i) => level <= 3 && !(i === 0 && level === 1));
  if (entries.length < 2) return nothing;
  return html`<nav class="outline" aria-label="On this page"><h2>On this page</h2><ol>
    ${entries.map(({ level, text, anchor }) => html`<li class="level-${level}"><a href="#${encodeURIComponent(anchor)}">${text}</a></li>`)}
  </ol></nav>`;
}

/** The pages before and behind a page in its branch. */
function neighbours(context: WikiContext, page: FullPage, branches: readonly Branch[]): Content {
  const parent = branches.find(({ page_id }) => page_id === page.page_id)?.parent_page_id;
  const siblings = branches.filter(({ parent_page_id }) => parent_page_id === parent);
  const at = siblings.findIndex(({ page_id }) => page_id === page.page_id);
  const to = (it: Branch | undefined, rel: string, words: string) =>
    it && html`<a rel="${rel}" href="${context.pageUrl(it.path)}"><span class="small">${words}</span> ${it.title}</a>`;
  if (at < 0 || siblings.length < 2) return nothing;
  return html`<nav class="neighbours" aria-label="Neighbouring pages">${to(siblings[at - 1], 'prev', 'Previous')}${to(siblings[at + 1], 'next', 'Next')}</nav>`;
}

async function loadExcerpts(
  { api }: Visit,
  context: WikiContext,
  { page_id }: FullPage,
  branches: readonly Branch[],
): Promise<ReadonlyMap<string, string>> {
  if (!branches.some(({ parent_page_id }) => parent_page_id === page_id)) return new Map();
  const below = await api.get<Page[]>(`${context.api}/pages/${page_id}/children?limit=${BRANCH_PAGE_SIZE}`);
  return new Map(below.map((it) => [it.page_id, it.description]));
}

function childList(
  context: WikiContext,
  page: FullPage,
  branches: readonly Branch[],
  excerpts: ReadonlyMap<string, string>,
): Content {
  const below = branches.filter(({ parent_page_id }) => parent_page_id === page.page_id);
  if (below.length === 0) return nothing;
  return html`<section><h2>Subpages</h2><ul class="subpages">
    ${below.map(({ page_id, path, title }) => {
      const excerpt = excerpts.get(page_id) ?? '';
      return html`<li><a href="${context.pageUrl(path)}" dir="auto">${title}</a>${excerpt !== '' && html`<p class="small excerpt" dir="auto">${excerpt}</p>`}</li>`;
    })}
  </ul></section>`;
}

function sourceList(context: WikiContext, page: FullPage): Content {
  const { citations } = page;
  if (citations.length === 0) return nothing;
  return html`<section><h2>Sources</h2><ul class="sources">
    ${citations.map(({ source_id, title, filename }) => html`<li>${icon('source')} ${context.can('sources:read') ? html`<a href="${context.actionUrl('sources', source_id)}">${filename || title}</a>` : filename || title}</li>`)}
  </ul><p><a href="${pageSourcesUrl(context, page.path)}">See the source of each block</a></p></section>`;
}

function backlinkList(context: WikiContext, backlinks: ListPart<Page>): Content {
  if (backlinks.records.length === 0 && backlinks.isFirst) return nothing;
  return html`<section><h2>Linked from</h2><ul class="columns">
    ${backlinks.records.map(({ path, title }) => html`<li><a href="${context.pageUrl(path)}">${title}</a></li>`)}
  </ul>${partLinks(backlinks)}</section>`;
}
