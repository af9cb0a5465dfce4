import type { User } from '../../src/organization/workspaces/schema.ts';
import type { PageSurroundings, ReadPage } from '../../src/wiki/pages/schema.ts';
import { Problem } from '../api.ts';
import type { Branch } from '../elements/branch.ts';
import { type Content, type Html, html, nothing } from '../html.ts';
import { icon } from '../icons.ts';
import { renderInWiki, time } from '../layout.ts';
import { incompleteNote } from '../losses.ts';
import { pageActions } from '../page-actions.ts';
import { pageText, scriptsFor, withEmbeds } from '../page-text.ts';
import { type ListPart, partLinks, readPart } from '../paging.ts';
import { type ArchiveClaim, claimWords } from '../people/claim-words.ts';
import { face } from '../people/face.ts';
import { withTransclusions } from '../transclusion/transclusions.ts';
import { trailTo } from '../tree.ts';
import { loadPageView, type PageView } from '../trees/page-view.ts';
import type { Visit, WebResponse, WebRoute } from '../visit.ts';
import { loadWikiContext, requestedPath, type WikiContext } from '../wiki-context.ts';
import { noSuchPage } from './no-such-page.ts';
import { pageSources, pageSourcesUrl, stalenessReason } from './page-sources.ts';
import { pageTags } from './tags.ts';

const RELATED = 5;
/** In UTF-16 units of HTML. A shorter text is sent as a whole, because it may end within the first screen. */
const LONG_TEXT = 20_000;

export const readPage: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/*',
  showsPages: true,
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const path = requestedPath(visit);
    if (path === '') return { redirect: context.pageUrl(), status: 308 };
    let view: PageView;
    try {
      view = await loadPageView(visit, context, path);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return noSuchPage(visit, context, path);
      throw error;
    }
    const { page, surroundings, tree } = view;
    if (page.path !== path || visit.params['*'] !== path) return { redirect: context.pageUrl(page.path), status: 308 };
    if (visit.query.has('sources')) return pageSources(visit, context, page);
    const [backlinks, staleness, text] = await Promise.all([
      visit.query.has(BACKLINKS_PART) ? readBacklinks(visit, context, page) : undefined,
      page.stale ? stalenessReason(visit.api, context, page) : '',
      withTransclusions(visit, context, page),
    ]);
    return renderPage(
      visit,
      context,
      { ...page, html: text },
      {
        ...surroundings,
        tree,
        backlinks: backlinks ?? firstBacklinks(context, page, surroundings),
        staleness,
      },
    );
  },
};

interface Surroundings extends Omit<PageSurroundings, 'backlinks'> {
  backlinks: ListPart<LinkedPage>;
  tree: Content;
  /** Why the page is stale; "" if it is not. */
  staleness: Content;
}

type LinkedPage = PageSurroundings['backlinks'][number];

/** The query parameter for a further part of the backlinks. */
const BACKLINKS_PART = 'backlinks';

function readBacklinks(visit: Visit, { api }: WikiContext, { page_id }: ReadPage): Promise<ListPart<LinkedPage>> {
  return readPart<LinkedPage>(visit, `${api}/pages/${page_id}/backlinks`, { name: BACKLINKS_PART });
}

function firstBacklinks(context: WikiContext, { path }: ReadPage, around: PageSurroundings): ListPart<LinkedPage> {
  const { backlinks: records, has_more_backlinks } = around;
  const next = new URLSearchParams({
    [BACKLINKS_PART]: `limit=${records.length}&offset=${records.length}`,
  });
  const first = context.pageUrl(path);
  return { records, isFirst: true, first, next: has_more_backlinks ? `${first}?${next}` : '' };
}

function renderPage(
  visit: Visit,
  context: WikiContext,
  page: ReadPage,
  {
    branches,
    tree,
    subpages,
    updated_by_name: display_name,
    updated_by_avatar_url: avatar_url,
    claim,
    backlinks,
    tags,
    properties,
    staleness,
    incomplete_sources,
    is_starred,
  }: Surroundings,
): WebResponse {
  const last = byline(context, page, claim ?? { display_name, avatar_url, email: '' });
  const by = html`${last}${pageTags(context, { tags, properties })}`;
  const hasTitle = startsWithTitle(page);
  const text = withEmbeds(page.html);
  return {
    page: renderInWiki(visit, context, {
      title: page.title,
      page,
      isLongText: page.html.length > LONG_TEXT,
      tree,
      aside: outlineNav(page),
      scripts: [...scriptsFor(text), ...(page.citations.length > 0 ? ['passages.js'] : [])],
      trail: trailTo(branches, page.page_id).slice(0, -1),
      actions: pageActions(context, page, is_starred, visit.publicUrl),
      main: html`<article>
          <header class="page-head">
            ${!hasTitle && html`<h1>${page.title}</h1>${by}`}
            ${pageState(page, staleness)}
          </header>
          ${page.citations.length > 0 && html`<ibid-passages data-from="${pageSourcesUrl(context, page.path)}"></ibid-passages>`}
          <div class="prose"${context.can('pages:write') && html` data-wiki="${page.wiki_id}" data-page="${page.page_id}" data-revision="${page.revision}"`}>${pageText(context, { html: hasTitle ? text.replace('</h1>', (end) => `${end}${by.text}`) : text })}</div>
          <footer class="page-end">
            ${childList(context, page, branches, subpages)}
            ${neighbours(context, page, branches)}
            ${sourceList(context, page)}
            ${incompleteNote(context, incomplete_sources)}
            ${backlinkList(context, backlinks)}
            <p class="small">Revision ${page.revision}. ${page.word_count} ${page.word_count === 1 ? 'word' : 'words'}.</p>
            <ibid-related data-from="${context.api}/pages/${page.page_id}/related?limit=${RELATED}" data-base="${context.pageUrl()}"></ibid-related>
          </footer>
        </article>`,
    }),
  };
}

/** Returns whether the text begins with the title, as in most uploaded files. The title is then not shown twice. */
function startsWithTitle({ html: text, outline, title }: ReadPage): boolean {
  return text.trimStart().startsWith('<h1') && outline[0]?.level === 1 && outline[0].text.trim() === title.trim();
}

/**
 * The last author and the time of the last change, below the title. It is not a block of the text: see
 * elements/passages.ts.
 */
function byline(context: WikiContext, page: ReadPage, author: Omit<User, 'user_id'> | ArchiveClaim): Html {
  if ('imported_by_name' in author)
    return html`<div class="byline"><a href="${context.actionUrl('history', page.path)}">${claimWords(author)}</a></div>`;
  const done = page.revision > 1 ? 'Changed' : page.origin === 'compiled' ? 'Uploaded' : 'Written';
  return html`<div class="byline"><a href="${context.actionUrl('history', page.path)}">${author.display_name !== '' && face(author, 'small')}${done}${author.display_name !== '' && html` by <span dir="auto">${author.display_name}</span>`}, ${time(page.updated_at)}</a></div>`;
}

function pageState(page: ReadPage, staleness: Content): Content {
  if (page.stale) return html`<div class="note stale"><p>${staleness}</p></div>`;
  if (page.status === 'draft') return html`<p class="note">This is a draft. Only people who can edit can see it.</p>`;
  if (page.status === 'archived')
    return html`<p class="note">This page is archived. Searches skip archived pages by default.</p>`;
  return nothing;
}

function outlineNav({ outline }: ReadPage): Content {
  const entries = outline.filter(({ level }, i) => level <= 3 && !(i === 0 && level === 1));
  if (entries.length < 2) return nothing;
  return html`<nav class="outline" aria-label="On this page"><h2>On this page</h2><ol>
    ${entries.map(({ level, text, anchor }) => html`<li class="level-${level}"><a href="#${encodeURIComponent(anchor)}">${text}</a></li>`)}
  </ol></nav>`;
}

/** Links to the previous and the next page in the branch. */
function neighbours(context: WikiContext, page: ReadPage, branches: readonly Branch[]): Content {
  const parent = branches.find(({ page_id }) => page_id === page.page_id)?.parent_page_id;
  const siblings = branches.filter(({ parent_page_id }) => parent_page_id === parent);
  const at = siblings.findIndex(({ page_id }) => page_id === page.page_id);
  const to = (it: Branch | undefined, rel: string, words: string) =>
    it && html`<a rel="${rel}" href="${context.pageUrl(it.path)}"><span class="small">${words}</span> ${it.title}</a>`;
  if (at < 0 || siblings.length < 2) return nothing;
  return html`<nav class="neighbours" aria-label="Neighbouring pages">${to(siblings[at - 1], 'prev', 'Previous')}${to(siblings[at + 1], 'next', 'Next')}</nav>`;
}

function childList(
  context: WikiContext,
  page: ReadPage,
  branches: readonly Branch[],
  subpages: PageSurroundings['subpages'],
): Content {
  const excerpts = new Map(subpages.map(({ page_id, description }) => [page_id, description]));
  const below = branches.filter(({ parent_page_id }) => parent_page_id === page.page_id);
  if (below.length === 0) return nothing;
  return html`<section><h2>Subpages</h2><ul class="subpages">
    ${below.map(({ page_id, path, title }) => {
      const excerpt = excerpts.get(page_id) ?? '';
      return html`<li><a href="${context.pageUrl(path)}" dir="auto">${title}</a>${excerpt !== '' && html`<p class="small excerpt"><bdi>${excerpt}</bdi></p>`}</li>`;
    })}
  </ul></section>`;
}

function sourceList(context: WikiContext, page: ReadPage): Content {
  const { citations } = page;
  if (citations.length === 0) return nothing;
  return html`<section><h2>Sources</h2><ul class="sources">
    ${citations.map(({ source_id, title, filename }) => html`<li>${icon('source')} ${context.can('sources:read') ? html`<a href="${context.actionUrl('sources', source_id)}">${filename || title}</a>` : filename || title}</li>`)}
  </ul><p><a href="${pageSourcesUrl(context, page.path)}">See the source of each block</a></p></section>`;
}

function backlinkList(context: WikiContext, backlinks: ListPart<LinkedPage>): Content {
  if (backlinks.records.length === 0 && backlinks.isFirst) return nothing;
  return html`<section><h2>Linked from</h2><ul class="columns">
    ${backlinks.records.map(({ path, title }) => html`<li><a href="${context.pageUrl(path)}">${title}</a></li>`)}
  </ul>${partLinks(backlinks)}</section>`;
}
