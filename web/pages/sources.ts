import type { Source } from '../../src/sources/schema.ts';
import { type Content, html } from '../html.ts';
import { icon } from '../icons.ts';
import { inWiki, time } from '../layout.ts';
import { partLinks, readPart } from '../paging.ts';
import { findPlace } from '../place.ts';
import { branchesAround, treeOf } from '../tree.ts';
import type { Visit, WebRoute } from '../visit.ts';

const SHOWN = 100;

export const sources: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/sources',
  run: async (visit) => {
    const place = await findPlace(visit);
    const [branches, part] = await Promise.all([
      branchesAround(visit.api, place),
      readPart<Source>(visit, `${place.api}/sources?limit=${SHOWN}`),
    ]);
    return {
      page: inWiki(visit, place, {
        title: 'Sources',
        tree: treeOf(place, branches),
        main: html`<article><h1>Sources</h1>
          <p>What was handed over, and pages were made from.</p>
          ${
            part.records.length === 0
              ? html`<p class="empty">${part.isFirst ? 'Nothing was uploaded yet.' : 'There is nothing more.'}${place.may('uploads:create') && html` <a href="${place.to('upload')}">Upload files</a>`}</p>`
              : html`<div class="scroll" tabindex="0" role="group" aria-label="Sources"><table><thead><tr><th scope="col">File</th><th scope="col">Size</th><th scope="col">Pages</th><th scope="col">Since</th></tr></thead><tbody>
                ${part.records.map((it) => html`<tr><td><a href="${place.to('sources', it.source_id)}">${it.filename}</a></td><td>${size(it.byte_size)}</td><td>${it.page_count}</td><td>${time(it.created_at)}</td></tr>`)}
                </tbody></table></div>`
          }
          ${partLinks(part)}
          <p>${place.may('sources:read') && html`<a href="${place.to('uploads')}">All uploads</a>`}</p></article>`,
      }),
    };
  },
};

export const source: WebRoute = {
  method: 'GET',
  path: '/:workspace/:wiki/-/sources/:source_id',
  run: async (visit) => {
    const place = await findPlace(visit);
    const { start, end } = passageAsked(visit);
    const api = `${place.api}/sources/${encodeURIComponent(visit.params.source_id ?? '')}`;
    const [branches, it, text] = await Promise.all([
      branchesAround(visit.api, place),
      visit.api.get<Source>(api),
      visit.api.get<SourceText>(`${api}/text?start=${Math.max(0, start - AROUND)}&end=${end + AROUND}`),
    ]);
    const file = `${api}/content`;
    const row = (name: string, value: Content) => html`<dt>${name}</dt><dd>${value}</dd>`;
    return {
      page: inWiki(visit, place, {
        title: it.title,
        tree: treeOf(place, branches),
        main: html`<article><p class="small"><a href="${place.to('sources')}">Sources</a></p><h1>${icon('source')} ${it.title}</h1>
          <dl class="facts">${row('File', it.filename)}${row('Kind', it.content_type)}${row('Size', size(it.byte_size))}
          ${row('Pages made from it', it.page_count)}${row('Handed over', time(it.created_at))}
          ${row('Upload', html`<a href="${place.to('uploads', it.upload_id)}">What became of it</a>`)}
          ${row('SHA-256', html`<code>${it.sha256}</code>`)}</dl>
          <p class="row-of-buttons">${it.content_type === 'application/pdf' && html`<a class="button" href="${file}" target="_blank">Open the PDF</a>`}
          <a class="button" href="${file}" download>Save the file</a></p>
          <h2>What was read from it</h2>
          ${passageIn(text, start, end)}</article>`,
      }),
    };
  },
};

interface SourceText {
  start: number;
  end: number;
  length: number;
  text: string;
}

/** So much of a source's text is shown on both sides of a passage, in UTF-16 units. */
const AROUND = 1_500;

/** The passage that the address names, in UTF-16 units of the source's text; the beginning where it names none. */
function passageAsked({ query }: Visit): { start: number; end: number } {
  const [start, end] = [query.get('start') ?? '', query.get('end') ?? ''];
  if (!/^\d{1,9}$/.test(start) || !/^\d{1,9}$/.test(end) || Number(end) < Number(start)) return { start: 0, end: 0 };
  return { start: Number(start), end: Number(end) };
}

function passageIn(shown: SourceText, start: number, end: number): Content {
  if (shown.length === 0) return html`<p class="empty">There is no text in it.</p>`;
  const from = Math.min(start, shown.end) - shown.start;
  const to = Math.min(end, shown.end) - shown.start;
  const marked = to > from && html`<mark id="passage">${shown.text.slice(from, to)}</mark>`;
  return html`<div class="source-text" tabindex="0" role="region" aria-label="Text of the source">${shown.start > 0 && '… '}${shown.text.slice(0, from)}${marked}${shown.text.slice(to)}${shown.end < shown.length && ' …'}</div>`;
}

export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const unit = bytes < 1_000_000 ? 1_000 : 1_000_000;
  return `${(bytes / unit).toFixed(1)} ${unit === 1_000 ? 'kB' : 'MB'}`;
}
