import type { Kind } from './kinds.ts';

/**
 * Kinds of content that a text may lack compared with its file:
 * - page_without_text: a page that shows something but has no text (a scan, a drawing)
 * - page_unreadable: a damaged page
 * - picture: a picture that the page does not show
 * - ornament: a decorative picture: small, under text, or repeated on many pages
 * - unreadable_text: text in a font that does not map its codes to characters
 * - repeated_line: headers, footers and page numbers
 * - printers_mark: a line in the margin outside of all text, such as the stamp of an archive
 * - equation: an equation that could not be converted
 * - comment: a remark of an author
 * - markup_comment: a comment in the source of a text, not meant for readers
 * - hidden_text: text that the file hides
 * - tracked_change: a deletion that was not accepted
 * - embedded_object: a chart, a diagram, another file
 * - form_field: a form's value
 * - navigation: menus, site headers and footers of a web page
 * - script: code and styles
 * - metadata: statements about the file
 * - cut_text: text beyond a limit
 * - decoding: characters that could not be decoded
 * - damaged_part: a part of the file that could not be read
 * - unaccounted: text found by an independent count, but neither in the text nor in another loss
 */
export const LOSS_KINDS = [
  'page_without_text',
  'page_unreadable',
  'picture',
  'ornament',
  'unreadable_text',
  'repeated_line',
  'printers_mark',
  'equation',
  'comment',
  'markup_comment',
  'hidden_text',
  'tracked_change',
  'embedded_object',
  'form_field',
  'navigation',
  'script',
  'metadata',
  'cut_text',
  'decoding',
  'damaged_part',
  'unaccounted',
] as const;
export type LossKind = (typeof LOSS_KINDS)[number];

/** Content of a file that its text lacks. */
export interface Loss {
  kind: LossKind;
  /** Pages of the file, counted from 1, inclusive; 0 for formats without pages. */
  first_page: number;
  last_page: number;
  /** The place in words if there is no page: "chapter 3", "footnote 4", a path in an EPUB; otherwise "". */
  place: string;
  /** The number of losses in this entry. */
  count: number;
  /** The number of lost characters without white space; 0 for content that is not text. */
  characters: number;
  /** The beginning of the lost text; "" if it cannot be read. */
  excerpt: string;
}

/** Kinds that every file of a format has, without anything that a reader would miss. */
const ORDINARY: ReadonlySet<LossKind> = new Set<LossKind>([
  'ornament',
  'repeated_line',
  'printers_mark',
  'markup_comment',
  'navigation',
  'script',
  'metadata',
]);

/** Limits of a list and of its texts, in entries and UTF-16 units. */
export const LOSSES_MAX = 500;
export const PLACE_MAX = 200;
export const EXCERPT_MAX = 100;
/** Counts are stored as 32-bit integers. */
export const COUNT_MAX = 2 ** 31 - 1;

/**
 * Differences that are not reported, in characters and as a share: some characters are written differently (ligatures,
 * hyphens, list marks).
 */
const UNACCOUNTED_MIN = 40;
const UNACCOUNTED_SHARE = 0.01;
/** Formats without hyphenation and glyphs, for which both counts should be equal. */
const EXACT_SHARE = 0.001;
const EXACT: ReadonlySet<Kind> = new Set<Kind>(['html', 'docx', 'epub', 'csv']);

/** Whether a person should look at a loss. */
export function needsReview({ kind }: Loss): boolean {
  return !ORDINARY.has(kind);
}

/** Counts the characters of a text without white space, in UTF-16 units. */
export function countCharacters(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // ASCII white space is tab to carriage return, and the space.
    if (code < 128 ? code > 32 || code < 9 || (code > 13 && code < 32) : !/\s/.test(text[i] as string)) count += 1;
  }
  return count;
}

/**
 * Makes a loss of text in a format without pages. Override fields for formats with pages or for content that is not
 * text.
 */
export function lostText(kind: LossKind, text: string, place = ''): Loss {
  return { kind, first_page: 0, last_page: 0, place, count: 1, characters: countCharacters(text), excerpt: text };
}

/** Bounds a list for storage: truncates texts, and merges losses beyond `LOSSES_MAX` by kind. */
export function boundLosses(losses: readonly Loss[]): Loss[] {
  const kept = losses.length <= LOSSES_MAX ? losses : losses.slice(0, LOSSES_MAX - LOSS_KINDS.length);
  const added = new Map<LossKind, Loss>();
  for (let i = kept.length; i < losses.length; i += 1) {
    const loss = losses[i] as Loss;
    const sum = added.get(loss.kind);
    added.set(loss.kind, sum ? mergeLosses(sum, loss) : { ...loss });
  }
  return [...kept, ...added.values()].map(bounded);
}

function mergeLosses(a: Loss, b: Loss): Loss {
  return {
    ...a,
    first_page: Math.min(a.first_page, b.first_page),
    last_page: Math.max(a.last_page, b.last_page),
    place: a.place === '' && b.place === '' ? '' : 'several places',
    count: a.count + b.count,
    characters: a.characters + b.characters,
  };
}

function bounded(loss: Loss): Loss {
  return {
    ...loss,
    first_page: atMost(loss.first_page),
    last_page: atMost(loss.last_page),
    place: cut(loss.place.slice(0, PLACE_MAX), PLACE_MAX),
    count: atMost(loss.count),
    characters: atMost(loss.characters),
    excerpt: cut(loss.excerpt.slice(0, 10 * EXCERPT_MAX), EXCERPT_MAX),
  };
}

function atMost(count: number): number {
  return Math.min(COUNT_MAX, Math.max(0, Math.round(count) || 0));
}

/** Puts a text on one line and truncates it, without lone surrogates and characters that a database cannot store. */
function cut(text: string, max: number): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, max)
    .toWellFormed()
    .replace(/\ufffd$/, '');
}

/**
 * Returns a loss for characters of the file that are neither in its text nor in the list; undefined if they are few
 * enough to be differences in spelling, or if `file_characters` is undefined because they were not counted.
 */
export function unaccounted(
  losses: readonly Loss[],
  file_characters: number | undefined,
  text: string,
  kind?: Kind,
): Loss | undefined {
  if (file_characters === undefined) return undefined;
  const listed = losses.reduce((sum, { characters }) => sum + characters, 0);
  const missing = file_characters - countCharacters(text) - listed;
  const share = kind && EXACT.has(kind) ? EXACT_SHARE : UNACCOUNTED_SHARE;
  if (missing < Math.max(UNACCOUNTED_MIN, share * file_characters)) return undefined;
  return { ...lostText('unaccounted', ''), characters: missing };
}
