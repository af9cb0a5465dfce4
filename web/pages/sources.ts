import type { IncompleteSource, Source, SourceLoss, SourceText } from '../../src/sources/records/schema.ts';
import type { PdfLink } from '../elements/pdf/messages.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { renderInWiki, time } from '../layout.ts';
import { lossList } from '../losses.ts';
import { partLinks, readPart } from '../paging.ts';
import { loadBranches, renderTree } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';
import { loadWikiContext } from '../wiki-context.ts';
import { fileName } from './page-sources.ts';

const PAGE_SIZE = 100;

export const sources: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/sources',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const [branches, part] = await Promise.all([
      loadBranches(visit.api, context),
      readPart<Source>(visit, `${context.api}/sources?limit=${PAGE_SIZE}`),
    ]);
    // Incomplete sources are a subset in the same order. One page of them, starting at the first shown source,
    // therefore covers all shown sources.
    const from = encodeURIComponent(part.records[0]?.source_id ?? '');
    const incomplete = await visit.api.get<IncompleteSource[]>(
      `${context.api}/sources/losses?limit=${PAGE_SIZE}&from=${from}`,
    );
    const lossesOf = new Map(incomplete.map(({ source_id, losses }) => [source_id, losses]));
    const losses = ({ source_id }: Source): Content =>
      lossesOf.has(source_id) &&
      html`<a href="${context.actionUrl('sources', source_id)}#losses">${lossesOf.get(source_id)}</a>`;
    return {
      page: renderInWiki(visit, context, {
        title: 'Sources',
        tree: renderTree(context, branches),
        main: html`<article><h1>Sources</h1>
          <p>The uploaded files that pages were made from.</p>
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'No files uploaded yet.' : 'No more entries.'}${context.can('uploads:create') && html` <a href="${context.actionUrl('upload')}">Upload files</a>`}</p>`
              : html`<div class="scroll" tabindex="0" role="group" aria-label="Sources"><table><thead><tr><th scope="col">File</th><th scope="col">Size</th><th scope="col">Pages</th>${lossesOf.size > 0 && html`<th scope="col">Missing from the text</th>`}<th scope="col">Uploaded</th></tr></thead><tbody>
                ${part.records.map((it) => html`<tr><td><a href="${context.actionUrl('sources', it.source_id)}">${it.filename}</a></td><td class="figure">${formatBytes(it.byte_size)}</td><td>${it.page_count}</td>${lossesOf.size > 0 && html`<td>${losses(it)}</td>`}<td>${time(it.created_at)}</td></tr>`)}
                </tbody></table></div>`
          }
          ${partLinks(part)}
          <p>${context.can('sources:read') && html`<a href="${context.actionUrl('uploads')}">All uploads</a>`} ${context.can('pages:write') && html`<a href="${context.actionUrl('stale')}">Stale pages</a>`}</p></article>`,
      }),
    };
  },
};

export const source: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/sources/:source_id',
  handle: async (visit) => {
    const context = await loadWikiContext(visit);
    const { start, end } = requestedPassage(visit);
    const { source_id = '' } = visit.params;
    const api = `${context.api}/sources/${encodeURIComponent(source_id)}`;
    const [branches, it, text, [incomplete]] = await Promise.all([
      loadBranches(visit.api, context),
      visit.api.get<Source>(api),
      visit.api.get<SourceText>(`${api}/text?start=${Math.max(0, start - CONTEXT_LENGTH)}&end=${end + CONTEXT_LENGTH}`),
      visit.api.get<IncompleteSource[]>(`${context.api}/sources/losses?limit=1&from=${encodeURIComponent(source_id)}`),
    ]);
    const coverage =
      incomplete?.source_id === source_id &&
      (await visit.api.get<{ losses: SourceLoss[]; share?: number }>(`${api}/coverage`));
    const file = `${api}/content`;
    const row = (name: string, value: Content) => html`<dt>${name}</dt><dd>${value}</dd>`;
    return {
      page: renderInWiki(visit, context, {
        title: it.title,
        tree: renderTree(context, branches),
        main: html`<article><p class="small"><a href="${context.actionUrl('sources')}">Sources</a></p><h1>${icon('source')} ${it.title}</h1>
          <dl class="facts">${row('File', it.filename)}${row('Kind', it.content_type)}${row('Size', formatBytes(it.byte_size))}
          ${row('Pages made from it', it.page_count)}${row('Uploaded', time(it.created_at))}
          ${row('Upload', html`<a href="${context.actionUrl('uploads', it.upload_id)}">View status</a>`)}
          ${row('SHA-256', html`<code>${it.sha256}</code>`)}</dl>
          <p class="row-of-buttons">${it.content_type === 'application/pdf' && html`<a class="button" href="${file}" target="_blank" data-pdf="${JSON.stringify({ name: fileName(it.filename), page: 1, lastPage: 1, boxes: [], quote: '' } satisfies PdfLink)}">Open the PDF</a>`}
          <a class="button" href="${file}" download>Download file</a></p>
          ${coverage && lossList(coverage.losses, coverage.share)}
          <h2>Extracted text</h2>
          ${renderPassage(text, start, end)}</article>`,
      }),
    };
  },
};

/** Length of the text to show before and after a passage, in UTF-16 units. */
const CONTEXT_LENGTH = 1_500;

/** Returns the passage in the address, in UTF-16 units of the source's text; 0 and 0 without one. */
function requestedPassage({ query }: Visit): { start: number; end: number } {
  const [start, end] = [query.get('start') ?? '', query.get('end') ?? ''];
  if (!/^\d{1,9}$/.test(start) || !/^\d{1,9}$/.test(end) || Number(end) < Number(start)) return { start: 0, end: 0 };
  return { start: Number(start), end: Number(end) };
}

function renderPassage(shown: SourceText, start: number, end: number): Content {
  if (shown.length === 0) return html`<p class="empty">No text was found in this file.</p>`;
  const from = Math.min(start, shown.end) - shown.start;
  const to = Math.min(end, shown.end) - shown.start;
  const marked = to > from && html`<mark id="passage">${shown.text.slice(from, to)}</mark>`;
  return html`<div class="source-text" tabindex="0" role="region" aria-label="Source text">${shown.start > 0 && '… '}${shown.text.slice(0, from)}${marked}${shown.text.slice(to)}${shown.end < shown.length && ' …'}</div>`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const unit = bytes < 1_000_000 ? 1_000 : 1_000_000;
  return `${(bytes / unit).toFixed(1)} ${unit === 1_000 ? 'kB' : 'MB'}`;
}
