import type { Page, PageProperties, Tag } from '../../src/wiki/pages/schema.ts';
import { type Content, html } from '../html.ts';
import { renderInWiki } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { loadWikiContext, type WikiContext } from '../wiki-context.ts';

const SHOWN = 100;

/** Lists the tags of the wiki; with `?tag=` the pages that have it. */
export const tags: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/tags',
  showsPages: true,
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const tag = visit.query.get('tag') ?? '';
    const [branches, main] = await Promise.all([
      loadBranches(visit.api, context),
      tag === '' ? allTags(visit, context) : pagesOfTag(visit, context, tag),
    ]);
    const title = tag === '' ? 'Tags' : `Tag ${tag}`;
    return { page: renderInWiki(visit, context, { title, tree: renderTree(context, branches), main }) };
  },
};

async function allTags(visit: Visit, context: WikiContext): Promise<Content> {
  const part = await readPart<Tag>(visit, `${context.api}/tags?limit=${SHOWN}`);
  return html`<article><h1>Tags</h1>
    ${
      part.records.length === 0
        ? html`<p class="empty">${part.isFirst ? html`No tags yet. To tag a page, write <code>tags: [first, second]</code> between two lines of <code>---</code> at the top of its text.` : 'No more entries.'}</p>`
        : html`<ul class="page-tags">${part.records.map(({ tag, page_count }) => html`<li>${tagLink(context, tag)} <span class="small">${page_count}</span></li>`)}</ul>`
    }${partLinks(part)}</article>`;
}

async function pagesOfTag(visit: Visit, context: WikiContext, tag: string): Promise<Content> {
  const query = new URLSearchParams({ tag, limit: String(SHOWN) });
  const part = await readPart<Page>(visit, `${context.api}/pages?${query}`);
  return html`<article><h1>Pages tagged ${tag}</h1>
    ${
      part.records.length === 0
        ? html`<p class="empty">${part.isFirst ? 'No pages have this tag.' : 'No more entries.'}</p>`
        : html`<ul class="list">${part.records.map(({ path, title, description }) => html`<li><a href="${context.pageUrl(path)}">${title}</a>${description !== '' && html`<p class="small">${description}</p>`}</li>`)}</ul>`
    }${partLinks(part)}
    <p><a href="${context.actionUrl('tags')}">All tags</a></p></article>`;
}

/** Shows the tags of a page, and the other fields of its front matter in a fold. */
export function pageTags(context: WikiContext, { tags: given, properties }: PageProperties): Content {
  return html`${given.length > 0 && html`<ul class="page-tags" aria-label="Tags">${given.map((tag) => html`<li>${tagLink(context, tag)}</li>`)}</ul>`}
    ${
      properties.length > 0 &&
      html`<details class="properties"><summary>Properties</summary><dl>
      ${properties.map(({ name, value }) => html`<dt dir="auto">${name}</dt><dd dir="auto">${value}</dd>`)}
    </dl></details>`
    }`;
}

function tagLink(context: WikiContext, tag: string): Content {
  return html`<a class="page-tag" dir="auto" href="${context.actionUrl('tags')}?tag=${encodeURIComponent(tag)}">${tag}</a>`;
}
