import { embedOf } from './elements/embeds/services.ts';
import { type Content, fromApi, html } from './html.ts';
import { icon } from './icons.ts';
import type { WikiContext } from './wiki-context.ts';

/** Returns the scripts that a page's HTML needs for its formulas, diagrams and embeds. */
export function scriptsFor(text: string): string[] {
  return [
    READING.test(text) && 'reading.js',
    hasMath(text) && 'math.js',
    text.includes('<pre class="mermaid"') && 'diagrams.js',
    text.includes('<figure class="embed') && 'embeds.js',
  ].filter((name) => name !== false);
}

/** Matches elements that elements/reading enhances: headings, code, tables, pictures, players, tasks. */
const READING = /<(?:h[1-6] id=|pre|table|img|audio|video|li class="task)/;

function hasMath(text: string): boolean {
  return text.includes('<pre class="math"') || text.includes('class="language-math');
}

/** The start of a cell that contains only a date or a time, which would wrap at its hyphens. */
const DATE_CELL = /<td(?: align="[a-z]+")?(?=>\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?Z?)?<\/td>)/g;

/** Returns a page's HTML. For users who can write, links to missing pages lead to the form for a new page. */
export function pageText(context: WikiContext, { html: text }: { html: string }): Content {
  if (text.trim() === '') return html`<p class="empty">This page is empty.</p>`;
  const shown = text.replace(DATE_CELL, '$& class="date"');
  if (!context.can('pages:write')) return fromApi(shown);
  const missingLink = /<a class="wiki missing(?: embed)?" data-target="([^"]*)"/g;
  // The API escaped the target for an attribute; unescape it before it becomes part of an address.
  return fromApi(
    shown.replace(missingLink, (link, target: string) => {
      const address = `${context.actionUrl('new')}?title=${encodeURIComponent(unescapeHtml(target))}`;
      return html`${fromApi(link)} href="${address}"`.text;
    }),
  );
}

/** Unescapes a text or an attribute of the API's HTML. */
export function unescapeHtml(attribute: string): string {
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return attribute.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return names[name] ?? whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

const ICONS = { video: 'play', slides: 'play', document: 'page', canvas: 'shapes', code: 'code' } as const;

/**
 * Matches a paragraph that contains only an address, as the API writes it, or only a picture with an address, which is
 * how Obsidian embeds a video.
 */
const ALONE =
  /<p(?: dir="(?:ltr|rtl|auto)")?>(?:<a href="([^"<>]*)" rel="nofollow noopener noreferrer">([^<>]*)<\/a>|<img src="([^"<>]*)" alt="([^"<>]*)" loading="lazy" referrerpolicy="no-referrer">)<\/p>/g;

/**
 * Replaces each paragraph that contains only the address of a listed service with a card. A card counts as one block,
 * as the paragraph did, and requests nothing: `elements/embeds` adds the frame when it is pressed.
 */
export function withEmbeds(text: string): string {
  if (!text.includes('<p')) return text;
  return text.replace(ALONE, (paragraph, href?: string, words?: string, src?: string, alt?: string) => {
    const address = unescapeHtml(href ?? src ?? '');
    // A link with its own words stays a link.
    if (words !== undefined && !isSameAddress(unescapeHtml(words), address)) return paragraph;
    return embedCard(address, unescapeHtml(alt ?? ''))?.text ?? paragraph;
  });
}

function embedCard(address: string, title: string) {
  const embed = embedOf(address);
  if (!embed) return undefined;
  const { name, kind, frame } = embed;
  const words = title.trim() || name;
  const verb = kind === 'video' ? 'Play' : 'Show';
  const { hostname } = new URL(frame);
  return html`<figure class="embed ${kind}"><div class="embed-bar"><span class="embed-icon">${icon(ICONS[kind])}</span><div class="embed-words"><a href="${address}" rel="nofollow noopener noreferrer" dir="auto">${words}</a><span class="embed-from">${title.trim() !== '' && `${name} · `}<bdi>${address.replace(/^https?:\/\/(?:www\.)?/, '')}</bdi></span></div><button type="button" class="button embed-do needs-script" aria-expanded="false" aria-label="${verb} ${words}" title="Nothing is sent to ${hostname} until you click" data-frame="${frame}" data-verb="${verb}">${verb}</button></div></figure>`;
}

/** Returns whether the words of a link are its address; `www.example.com` counts too. */
function isSameAddress(words: string, address: string): boolean {
  const { href } = new URL(address, 'https://page.invalid');
  return [words, `http://${words}`].some((written) => URL.parse(written)?.href === href);
}
