import type { FullPage } from '../../src/pages/schema.ts';
import type { Citation } from '../../src/sources/schema.ts';
import type { Api } from '../api.ts';
import { type Block, type Part, partsOf } from '../blocks.ts';
import { type Content, html, nothing } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki } from '../layout.ts';
import { pageText, scriptsFor } from '../page-text.ts';
import type { Place } from '../place.ts';
import { citationsOf, traceBlocks } from '../traces.ts';
import { branchesAround, breadcrumbs, treeOf, wayTo } from '../tree.ts';
import type { Shown, Visit } from '../visit.ts';

/** Passages that are looked at for why a page is stale. */
const MOST_LOOKED_AT = 500;

/** More blocks than one page of a document has; what lies behind them is said to be there. */
const MOST = 2_000;

/** The address of the page with what each of its blocks was made from beside it. */
export function tracedAddress(place: Place, path: string): string {
  return `${place.at(path)}?sources`;
}

/** Where each block of a page comes from: beside it the passage of its source, and whether that still says so. */
export async function pageSources(visit: Visit, place: Place, page: FullPage): Promise<Shown> {
  const [branches, citations] = await Promise.all([
    branchesAround(visit.api, place, page.page_id),
    citationsOf(visit.api, `${place.api}/pages/${page.page_id}`, MOST),
  ]);
  const parts = partsOf(page.html);
  const blocks = parts.flatMap((part) => part.blocks);
  const { traces, others } = traceBlocks(blocks, citations);
  const sections = sectionsOf(blocks);
  const passage = (block: number): Content => {
    const citation = traces.get(block);
    return citation && passageOf(place, citation, `from-${block}`, sections[block] ?? '');
  };
  return {
    page: inWiki(visit, place, {
      title: `${page.title}: where it comes from`,
      tree: treeOf(place, branches, page.page_id),
      scripts: scriptsFor(page.html),
      main: html`${breadcrumbs(place, [...wayTo(branches, page.page_id), { path: '', title: 'Where it comes from' }])}
        <article class="traced">
          <header class="page-head"><p class="small">Where it comes from</p><h1>${page.title}</h1>
          <p>${traces.size} of ${blocks.length} ${blocks.length === 1 ? 'block' : 'blocks'} can be followed to a source. Where nothing stands beside a block, people wrote or changed it.
          <a href="${place.at(page.path)}">Back to the page</a></p></header>
          ${sourcesOf(place, citations)}
          ${citations.length === MOST && html`<p class="note">Only the first ${MOST} passages are shown here.</p>`}
          ${parts.map((part) => partBeside(place, part, passage))}
          ${
            others.length > 0 &&
            html`<h2>Of none of these blocks</h2>
            <p>The page was made from this too, and it is not where it was any more.</p>
            ${others.map((citation, i) => passageOf(place, citation, `other-${i}`, ''))}`
          }
        </article>`,
    }),
  };
}

function partBeside(place: Place, part: Part, passage: (block: number) => Content): Content {
  const passages = part.blocks.map((_, i) => passage(part.first + i)).filter(Boolean);
  return html`<div class="beside"><div class="prose">${pageText(place, part)}</div>${
    passages.length > 1
      ? html`<details class="passages"><summary>${passages.length} passages</summary>${passages}</details>`
      : passages
  }</div>`;
}

/** The heading that each block stands under, for sources that have no pages. */
function sectionsOf(blocks: readonly Block[]): string[] {
  let section = '';
  return blocks.map(({ isHeading, text }) => {
    if (isHeading) section = text;
    return section;
  });
}

function passageOf(place: Place, citation: Citation, id: string, section: string): Content {
  const { source_id, filename, title, start, end, first_page, quote, verified } = citation;
  const name = filename || title;
  const at = first_page > 0 ? [pagesOf(citation)] : [section && `“${section}”`, linesOf(citation)].filter(Boolean);
  return html`<aside class="passage" id="${id}" aria-label="Source">
    <blockquote>${quote}</blockquote>
    <p>${icon('source')} <strong>${name}</strong>${at.map((each) => `, ${each}`)}</p>
    ${
      verified
        ? html`<p class="verified">Verified: the source says this</p>`
        : html`<p class="altered">The source has changed: this is what it says there now</p>`
    }
    ${
      place.may('sources:read') &&
      html`<p class="passage-do">${first_page > 0 && html`<a href="${fileOf(place, source_id)}#page=${first_page}" target="_blank">Open the PDF at page ${first_page}</a>`}
      <a href="${place.to('sources', source_id)}?start=${start}&amp;end=${end}#passage">See it in the source</a></p>`
    }</aside>`;
}

function pagesOf({ first_page, last_page }: Citation): string {
  return first_page === last_page ? `page ${first_page}` : `pages ${first_page} to ${last_page}`;
}

function linesOf({ first_line, last_line }: Citation): string {
  if (first_line === 0) return '';
  return first_line === last_line ? `line ${first_line}` : `lines ${first_line}–${last_line}`;
}

export function fileOf(place: Place, source_id: string): string {
  return `${place.api}/sources/${encodeURIComponent(source_id)}/content`;
}

function sourcesOf(place: Place, citations: readonly Citation[]): Content {
  const bySource = Map.groupBy(citations, ({ source_id }) => source_id);
  if (bySource.size === 0) return nothing;
  return html`<ul class="sources">${[...bySource].map(([source_id, blocks]) => {
    const changed = blocks.filter(({ verified }) => !verified).length;
    const name = blocks[0]?.filename || blocks[0]?.title;
    return html`<li>${icon('source')} ${place.may('sources:read') ? html`<a href="${place.to('sources', source_id)}">${name}</a>` : name}:
      ${blocks.length} ${blocks.length === 1 ? 'block' : 'blocks'}, ${changed === 0 ? 'all verified' : html`<span class="altered">${changed} not as ${changed === 1 ? 'it was' : 'they were'}</span>`}</li>`;
  })}</ul>`;
}

/** What a stale page says: which source is why. Errors: Problem. */
export async function whyStale(api: Api, place: Place, page: FullPage): Promise<Content> {
  if (page.citations.length === 0) return 'The source that this page was made from was deleted.';
  const cited = await citationsOf(api, `${place.api}/pages/${page.page_id}`, MOST_LOOKED_AT);
  const names = (sources: readonly { source_id: string; filename: string; title: string }[]) => {
    const byId = new Map(sources.map(({ source_id, filename, title }) => [source_id, filename || title]));
    return [...byId].map(([id, name], i) => html`${i > 0 && ', '}<a href="${place.to('sources', id)}">${name}</a>`);
  };
  const changed = cited.filter(({ verified }) => !verified);
  const see = html`<a href="${tracedAddress(place, page.path)}">See which passages</a>`;
  if (changed.length > 0) return html`What this page was made from has changed since: ${names(changed)}. ${see}`;
  return html`What this page was made from says something else now, where people have edited the page: ${names(page.citations)}. Whoever edits it settles that.`;
}
