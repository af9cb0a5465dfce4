import type { FullPage, ReadPage } from '../../src/wiki/pages/schema.ts';
import { Problem } from '../api.ts';
import { fromApi, html } from '../html.ts';
import { unescapeHtml } from '../page-text.ts';
import type { Visit } from '../visit.ts';
import { encodePath, type WikiContext } from '../wiki-context.ts';
import { rebased, sectionOf } from './transcluded-text.ts';

/** Each transcluded page costs an API request, and a page may contain any number of transclusions. */
const MAX_PAGES = 20;
const MAX_PLACES = 50;
const MAX_DEPTH = 3;
/** Of all transcluded texts together, in UTF-16 units of their HTML. */
const MAX_LENGTH = 400_000;
/** Limits the total length of texts searched for a part, in UTF-16 units; a text counts each time. */
const MAX_SEARCHED = 2_000_000;

/** `![[Page]]` or `![[Page#Section]]` alone in a paragraph, as the API writes it. */
const PLACE = /<p(?: dir="(?:ltr|rtl|auto)")?><a class="wiki embed" href="([^"#]+)(?:#([^"]*))?">[^<]*<\/a><\/p>/g;

/**
 * Returns the HTML of a page with each `![[Page]]` replaced by the current text of that page, as one block. The API
 * authorizes each of these pages for this reader. Pages that the API refuses, pages that would contain themselves, and
 * pages beyond the limits stay links, as in the API's HTML. A page without transclusions costs no requests.
 */
export async function withTransclusions(visit: Visit, context: WikiContext, page: ReadPage): Promise<string> {
  let places = MAX_PLACES;
  let length = MAX_LENGTH;
  let searched = 0;
  const pages = new Map<string, Promise<FullPage | undefined>>();

  function load(path: string): Promise<FullPage | undefined> {
    const known = pages.get(path);
    if (known) return known;
    const loading = pages.size < MAX_PAGES ? readPage(visit, context, path) : Promise.resolve(undefined);
    pages.set(path, loading);
    return loading;
  }

  async function compose(text: string, path: string, around: readonly string[]): Promise<string> {
    if (around.length > MAX_DEPTH || places === 0 || !text.includes('class="wiki embed"')) return text;
    const found = [...text.matchAll(PLACE)].flatMap(({ 0: link, 1: href = '', 2: anchor = '', index }) => {
      const target = pathFrom(context, path, href);
      return target === undefined || around.includes(target) ? [] : [{ link, index, target, anchor }];
    });
    found.length = Math.min(found.length, places);
    places -= found.length;
    const texts = await Promise.all(found.map(({ target }) => load(target)));
    let composed = '';
    let from = 0;
    // In sequence, so that the limits apply to the same places each time.
    for (const [i, { link, index, anchor }] of found.entries()) {
      const shown = texts[i];
      // The path may be a former path of a page that already encloses this one.
      if (!shown || around.includes(shown.path)) continue;
      searched += shown.html.length;
      const part = searched > MAX_SEARCHED ? undefined : partOf(shown, anchor);
      if (part === undefined || part.length > length) continue;
      length -= part.length;
      const inner = await compose(part, shown.path, [...around, shown.path]);
      composed += text.slice(from, index) + figure(context, shown, anchor, rebased(inner, context.pageUrl(shown.path)));
      from = index + link.length;
    }
    return composed + text.slice(from);
  }

  return compose(page.html, page.path, [page.path]);
}

async function readPage(visit: Visit, { api }: WikiContext, path: string): Promise<FullPage | undefined> {
  try {
    return await visit.api.get<FullPage>(`${api}/pages/path/${encodePath(path)}`);
  } catch (error) {
    // The page stays readable without the transclusion: the reader cannot see it, or has reached a rate limit.
    if (error instanceof Problem && [403, 404, 429].includes(error.status)) return undefined;
    throw error;
  }
}

/** Returns the path in the wiki of a page's link; undefined if the link leads out of the wiki. */
function pathFrom({ pageUrl }: WikiContext, path: string, href: string): string | undefined {
  const root = `${pageUrl()}/`;
  const { origin, pathname } = URL.parse(unescapeHtml(href), `https://page.invalid${pageUrl(path)}`) ?? {};
  if (origin !== 'https://page.invalid' || !pathname?.startsWith(root)) return undefined;
  const target = pathname.slice(root.length).replace(/\/$/, '');
  return /^[a-z0-9-]+(?:\/[a-z0-9-]+)*$/.test(target) && !target.startsWith('-/') ? target : undefined;
}

/**
 * Returns the shown part of a page: a section, a block, or everything except the title, which the link above already
 * shows.
 */
function partOf({ html: text, title, outline }: FullPage, anchor: string): string | undefined {
  const part =
    anchor === ''
      ? text.replace(/^\s*<h1[^<>]*>[\s\S]*?<\/h1>/, (heading) =>
          outline[0]?.level === 1 && outline[0].text.trim() === title.trim() ? '' : heading,
        )
      : sectionOf(text, decoded(unescapeHtml(anchor)));
  return part?.trim() ? part : undefined;
}

function decoded(anchor: string): string {
  try {
    return decodeURIComponent(anchor);
  } catch {
    return anchor;
  }
}

function figure(context: WikiContext, { path, title, stale }: FullPage, anchor: string, text: string): string {
  const address = context.pageUrl(path) + (anchor === '' ? '' : `#${unescapeHtml(anchor)}`);
  return html`<figure class="transclusion"><figcaption><a class="wiki" href="${address}" dir="auto">${title}</a>${stale && html` <span class="tag">may be out of date</span>`}</figcaption>${fromApi(text)}</figure>`
    .text;
}
