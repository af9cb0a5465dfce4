import type { Kind } from './kinds.ts';

/**
 * What a text of a source can lack of its file:
 * page_without_text: a page that shows something but has no text (a scan, a drawing). page_unreadable: a damaged page.
 * picture: one that is not shown on the page. unreadable_text: text whose font does not say which characters it shows.
 * repeated_line: headers, footers and page numbers. printers_mark: crop marks and what stands beside them.
 * ornament: a picture that decorates: a small one, one behind text, one that is on many pages.
 * equation: one that could not be converted. comment: a remark of an author. markup_comment: one in the source of a text,
 * which no reader is meant to see. hidden_text: text that the file hides.
 * tracked_change: a deletion that was not accepted. embedded_object: a chart, a diagram, another file.
 * form_field: a form's value. navigation: menus, site headers and footers of a web page. script: code and styles.
 * metadata: what is about the file. cut_text: text beyond a limit. decoding: characters that could not be decoded.
 * damaged_part: a part of the file that could not be read. unaccounted: text that an independent count finds in the
 * file, that neither the text nor another loss has.
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

/** Something of a file that its text does not have. */
export interface Loss {
  kind: LossKind;
  /** Pages of the file, counted from 1, inclusive; 0 where the format has no pages. */
  first_page: number;
  last_page: number;
  /** Words for people where there is no page: "chapter 3", "footnote 4", a path in an EPUB; "" otherwise. */
  place: string;
  /** How many of them there are. */
  count: number;
  /** How many characters of text are lost, white space not counted; 0 for what is no text. */
  characters: number;
  /** The beginning of the lost text; "" where it cannot be read. */
  excerpt: string;
}

/** What is left out of every file of a format, without anything that a reader would look for. */
const ORDINARY: ReadonlySet<LossKind> = new Set<LossKind>([
  'ornament',
  'repeated_line',
  'printers_mark',
  'markup_comment',
  'navigation',
  'script',
  'metadata',
]);

/** The limits of a list and of the texts in it, in entries and UTF-16 units. */
export const LOSSES_MAX = 500;
export const PLACE_MAX = 200;
export const EXCERPT_MAX = 100;
/** Counts are stored as integers of 32 bits. */
export const COUNT_MAX = 2 ** 31 - 1;

/** Text that may be missing without a word: characters that are written differently (ligatures, hyphens, list marks). */
const UNACCOUNTED_MIN = 40;
const UNACCOUNTED_SHARE = 0.01;
/** In formats whose texts have no hyphens at the ends of lines and no glyphs, both counts are the same. */
const EXACT_SHARE = 0.001;
const EXACT: ReadonlySet<Kind> = new Set<Kind>(['html', 'docx', 'epub', 'csv']);

/** Whether a person should look at a loss. */
export function needsReview({ kind }: Loss): boolean {
  return !ORDINARY.has(kind);
}

/** How many characters a text has, white space not counted, in UTF-16 units. */
export function countCharacters(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // Of ASCII, white space is tab to carriage return, and the space.
    if (code < 128 ? code > 32 || code < 9 || (code > 13 && code < 32) : !/\s/.test(text[i] as string)) count += 1;
  }
  return count;
}

/** A loss of text in a format without pages; shape it further where it has pages or is no text. */
export function lostText(kind: LossKind, text: string, place = ''): Loss {
  return { kind, first_page: 0, last_page: 0, place, count: 1, characters: countCharacters(text), excerpt: text };
}

/**
 * The list as it may be stored: texts are cut to their limits, and of more than `LOSSES_MAX` the last ones are added up,
 * each kind to one.
 */
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

/** On one line, without halves of characters and what a database cannot store. */
function cut(text: string, max: number): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, max)
    .toWellFormed()
    .replace(/\ufffd$/, '');
}

/**
 * What of a file's characters is neither in the text that was read of it nor in the list; undefined if that is so little
 * that it only is written differently. `file_characters` is undefined where they were not counted.
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
