import type { Citation } from '../../src/sources/records/schema.ts';
import type { GonePage } from '../../src/wiki/pages/gone/schema.ts';
import type { ReadPage } from '../../src/wiki/pages/schema.ts';
import type { Api } from '../api.ts';
import { type Block, type Part, splitIntoParts } from '../blocks.ts';
import type { PdfLink } from '../elements/pdf/messages.ts';
import type { SourceLink } from '../elements/viewer/messages.ts';
import { type Content, html, nothing } from '../html.ts';
import { icon } from '../icons.ts';
import { renderInWiki } from '../layout.ts';
import { pageText, scriptsFor } from '../page-text.ts';
import { loadCitations, traceBlocks } from '../traces.ts';
import { loadBranches, renderTree, trailTo } from '../tree.ts';
import type { Visit, WebResponse } from '../visit.ts';
import type { WikiContext } from '../wiki-context.ts';

/** Maximum number of citations to check for the reason why a page is stale. */
const STALENESS_CITATIONS_MAX = 500;

/** Maximum number of citations shown for a page. A page rarely has more; a note says so. */
const CITATIONS_MAX = 2_000;

/** Maximum length of a passage to search in a PDF, in UTF-16 units. */
const QUOTE_MAX = 4_000;

/** Returns the address of the page with the sources of its blocks. */
export function pageSourcesUrl(context: WikiContext, path: string): string {
  return `${context.pageUrl(path)}?sources`;
}

/** Shows a page with the source passage next to each block, and whether the source still says the same. */
export async function pageSources(visit: Visit, context: WikiContext, page: ReadPage): Promise<WebResponse> {
  const [branches, citations] = await Promise.all([
    loadBranches(visit.api, context, page.page_id),
    loadCitations(visit.api, `${context.api}/pages/${page.page_id}`, CITATIONS_MAX),
  ]);
  const parts = splitIntoParts(page.html);
  const blocks = parts.flatMap((part) => part.blocks);
  const { traces, others } = traceBlocks(blocks, citations);
  const unchanged = [...traces.values()].filter(({ shown }) => shown === 'unchanged').length;
  const sections = sectionsOf(blocks);
  const passage = (block: number): Content => {
    const citation = traces.get(block);
    return citation && renderPassage(context, citation, `from-${block}`, sections[block] ?? '');
  };
  return {
    page: renderInWiki(visit, context, {
      title: `Sources of ${page.title}`,
      tree: renderTree(context, branches, page.page_id),
      scripts: scriptsFor(page.html),
      trail: trailTo(branches, page.page_id),
      main: html`<article class="traced">
          <header class="page-head"><h1>Sources of ${page.title}</h1>
          <p>${unchanged} of ${blocks.length} ${blocks.length === 1 ? 'block' : 'blocks'} can be traced to a source. Blocks without a passage beside them were written by people.
          <a href="${context.pageUrl(page.path)}">Back to the page</a></p></header>
          ${sourceList(context, citations)}
          ${citations.length === CITATIONS_MAX && html`<p class="note">Only the first ${CITATIONS_MAX} passages are shown here.</p>`}
          ${parts.map((part) => renderPart(context, part, passage))}
          ${
            others.length > 0 &&
            html`<h2>Not matched to a block</h2>
            <p>The page was also made from these passages, but no block matches them now.</p>
            ${others.map((citation, i) => renderPassage(context, citation, `other-${i}`, ''))}`
          }
        </article>`,
    }),
  };
}

function renderPart(context: WikiContext, part: Part, passage: (block: number) => Content): Content {
  const passages = part.blocks.map((_, i) => passage(part.firstBlock + i)).filter(Boolean);
  return html`<div class="beside"><div class="prose">${pageText(context, part)}</div>${
    passages.length > 1
      ? html`<details class="passages"><summary>${passages.length} passages</summary>${passages}</details>`
      : passages
  }</div>`;
}

/** Returns the heading above each block, which locates a passage in sources without page numbers. */
function sectionsOf(blocks: readonly Block[]): string[] {
  let section = '';
  return blocks.map(({ isHeading, text }) => {
    if (isHeading) section = text;
    return section;
  });
}

function renderPassage(context: WikiContext, citation: Citation, id: string, section: string): Content {
  const { source_id, filename, title, start, end, first_page } = citation;
  const name = filename || title;
  const location =
    first_page > 0 ? [pageRange(citation)] : [section && `“${section}”`, lineRange(citation)].filter(Boolean);
  return html`<aside class="passage" id="${id}" aria-label="Source">
    <blockquote>${quoteOf(citation)}</blockquote>
    <p>${icon('source')} <strong>${name}</strong>${location.map((each) => `, ${each}`)}</p>
    ${stateOf(citation)}
    ${
      context.can('sources:read') &&
      html`<p class="passage-do">${first_page > 0 && html`<a href="${sourceFileUrl(context, source_id)}#page=${first_page}" target="_blank" data-pdf="${JSON.stringify(pdfLink(citation))}">Open the PDF at page ${first_page}</a>`}
      <a href="${context.actionUrl('sources', source_id)}?start=${start}&amp;end=${end}#passage" data-source="${JSON.stringify(sourceLink(context, citation))}">View in source</a></p>`
    }</aside>`;
}

/**
 * The data for the viewer to mark a passage: its boxes, or if these are unknown its words, which the viewer searches
 * for.
 */
function pdfLink({ filename, title, first_page, last_page, boxes, quote, source_matches }: Citation): PdfLink {
  const name = fileName(filename) || title;
  const isPlaced = boxes !== null && boxes.length > 0 && source_matches;
  const marks = isPlaced ? { boxes, quote: '' } : { boxes: [], quote: quote.slice(0, QUOTE_MAX) };
  return { name, page: first_page, lastPage: last_page, ...marks };
}

function sourceLink(context: WikiContext, { source_id, filename, title, start, end }: Citation): SourceLink {
  const text = `${context.api}/sources/${encodeURIComponent(source_id)}/text`;
  return { name: fileName(filename) || title, text, start, end };
}

/** Returns the text of the source, for an edited block with the words that people removed and added. */
function quoteOf({ quote, changes }: Citation): Content {
  if (changes.length === 0) return quote;
  return html`${changes.map(({ kind, text }) => {
    if (kind === 'added') return html`<ins>${text}</ins>`;
    return kind === 'removed' ? html`<del>${text}</del>` : text;
  })}`;
}

function stateOf({ verified, source_matches, shown, context_changes }: Citation): Content {
  if (verified && context_changes.length > 0) {
    const what = context_changes.map((change) => CONTEXT_WORDS[change]).join(', and ');
    return html`<p class="verified half">The source says this in another context: ${what}. Read it in the source</p>`;
  }
  if (verified) return html`<p class="verified">Verified: the source says this</p>`;
  if (!source_matches) return html`<p class="altered">The source has changed. This is its current text</p>`;
  if (shown === 'removed') return html`<p class="altered">No longer on the page: people removed or rewrote it</p>`;
  return html`<p class="altered">Edited since: the page no longer matches the source</p>`;
}

/** Describes how the context of a block differs although its text is the same. */
const CONTEXT_WORDS: Record<Citation['context_changes'][number], string> = {
  headings: 'it is under other headings there',
  place: 'it has another number, term or caption there',
  links: 'links were added or removed here',
};

function pageRange({ first_page, last_page }: Citation): string {
  return first_page === last_page ? `page ${first_page}` : `pages ${first_page} to ${last_page}`;
}

/** Returns the lines in the file, the paragraphs in a Word document, or the chapter in an EPUB. */
function lineRange({ first_line, last_line, first_paragraph, last_paragraph, chapter }: Citation): string {
  if (chapter > 0) return `chapter ${chapter}`;
  if (first_paragraph > 0)
    return first_paragraph === last_paragraph
      ? `paragraph ${first_paragraph}`
      : `paragraphs ${first_paragraph}–${last_paragraph}`;
  if (first_line === 0) return '';
  return first_line === last_line ? `line ${first_line}` : `lines ${first_line}–${last_line}`;
}

/** Returns the name of a file without its folders. */
export function fileName(filename: string): string {
  return filename.slice(filename.lastIndexOf('/') + 1);
}

function sourceFileUrl(context: WikiContext, source_id: string): string {
  return `${context.api}/sources/${encodeURIComponent(source_id)}/content`;
}

function sourceList(context: WikiContext, citations: readonly Citation[]): Content {
  const bySource = Map.groupBy(citations, ({ source_id }) => source_id);
  if (bySource.size === 0) return nothing;
  return html`<ul class="sources">${[...bySource].map(([source_id, blocks]) => {
    const counts = countsOf(blocks);
    const name = blocks[0]?.filename || blocks[0]?.title;
    return html`<li>${icon('source')} ${context.can('sources:read') ? html`<a href="${context.actionUrl('sources', source_id)}">${name}</a>` : name}:
      ${blocks.length} ${blocks.length === 1 ? 'block' : 'blocks'}, ${counts.length === 0 ? 'all verified' : html`<span class="altered">${counts.join(', ')}</span>`}</li>`;
  })}</ul>`;
}

/** Counts the blocks that are not verified, by reason. */
function countsOf(blocks: readonly Citation[]): string[] {
  const count = (isMeant: (citation: Citation) => boolean) => blocks.filter(isMeant).length;
  const counts: [number, string][] = [
    [count(({ source_matches }) => !source_matches), 'changed in the source'],
    [count(({ source_matches, shown }) => source_matches && shown === 'edited'), 'edited since'],
    [count(({ source_matches, shown }) => source_matches && shown === 'removed'), 'no longer on the page'],
    [count(({ verified, context }) => verified && context === 'changed'), 'in another context'],
  ];
  return counts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
}

/** Explains why a page is stale: the changed sources, with links. Throws Problem. */
export async function stalenessReason(api: Api, context: WikiContext, page: ReadPage): Promise<Content> {
  if (context.can('pages:write')) {
    const [waiting] = await api.get<GonePage[]>(`${context.api}/pages/gone?limit=1&from=${page.page_id}`);
    if (waiting?.page_id === page.page_id) {
      return html`The file of this page, ${waiting.filename}, is missing from its folder. <a href="${context.actionUrl('gone')}">Keep or delete the page</a>`;
    }
  }
  if (page.citations.length === 0) return 'The source of this page was deleted.';
  const cited = await loadCitations(api, `${context.api}/pages/${page.page_id}`, STALENESS_CITATIONS_MAX);
  const names = (sources: readonly { source_id: string; filename: string; title: string }[]) => {
    const byId = new Map(sources.map(({ source_id, filename, title }) => [source_id, filename || title]));
    return [...byId].map(
      ([id, name], i) => html`${i > 0 && ', '}<a href="${context.actionUrl('sources', id)}">${name}</a>`,
    );
  };
  const changed = cited.filter(({ source_matches }) => !source_matches);
  const seeLink = html`<a href="${pageSourcesUrl(context, page.path)}">See the changed passages</a>`;
  if (changed.length > 0) return html`The sources of this page have changed: ${names(changed)}. ${seeLink}`;
  if (!context.can('pages:write')) return 'This page may be out of date: its sources have changed or are missing.';
  return html`The sources of this page have changed in places that people have edited: ${names(page.citations)}. Edit the page to resolve this, or <a href="${context.actionUrl('stale')}">keep it as it is</a>.`;
}
