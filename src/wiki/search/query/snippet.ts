import { escapeHtml } from '../../../platform/core/escape-html.ts';
import { findPhrase } from './find-phrase.ts';
import { findTerms, type Match } from './find-words.ts';

/** Length of a passage, and maximum length of its part before the first match, in UTF-16 units. */
const PASSAGE = 240;
const BEFORE = 60;

export interface Passage {
  /** Safe HTML: escaped text with matches in `<mark>`. */
  snippet: string;
  /** Offset of the first match of the passage in the text; 0 if only the title matches. */
  offset: number;
  /** Whether the text contains the words, or the phrases if there are any. */
  isFound: boolean;
}

/**
 * Returns the passage that begins with a phrase, or otherwise the passage that contains the most terms; the first of
 * several.
 */
export function bestPassage(
  text: string,
  terms: ReadonlySet<string>,
  phrases: readonly (readonly string[])[] = [],
): Passage {
  const held = phrases.flatMap((phrase) => findPhrase(text, phrase) ?? []);
  const matches = withPhrases(findTerms(text, terms), held);
  const best = held.length > 0 ? nearPhrase(matches, held) : densest(matches);
  const offset = best[0]?.start ?? 0;
  const start = wordStart(text, Math.max(0, offset - BEFORE), offset);
  const end = wordEnd(text, Math.max(start + PASSAGE, best.at(-1)?.end ?? 0));
  const isFound = phrases.length > 0 ? held.length > 0 : matches.length > 0;
  return { snippet: markMatches(text, start, end, matches), offset, isFound };
}

/** Adds the words of phrases to the matches, including stop words. */
function withPhrases(matches: readonly Match[], held: readonly Match[]): Match[] {
  if (held.length === 0) return [...matches];
  const byStart = new Map([...matches, ...held].map((match) => [match.start, match]));
  return [...byStart.values()].sort((a, b) => a.start - b.start);
}

function nearPhrase(matches: readonly Match[], [first]: readonly Match[]): Match[] {
  const from = first?.start ?? 0;
  return matches.filter(({ start, end }) => start >= from && end - from <= PASSAGE - BEFORE);
}

function densest(matches: readonly Match[]): Match[] {
  let best: Match[] = [];
  let bestWorth = 0;
  let begin = 0;
  for (let end = 0; end < matches.length; end += 1) {
    while ((matches[end] as Match).end - (matches[begin] as Match).start > PASSAGE - BEFORE && begin < end) begin += 1;
    const inside = matches.slice(begin, end + 1);
    const worth = new Set(inside.map(({ term }) => term)).size + inside.length / 100;
    if (worth > bestWorth) [best, bestWorth] = [inside, worth];
  }
  return best;
}

/** Returns the first start of a word from `from` to `to`. */
function wordStart(text: string, from: number, to: number): number {
  if (from === 0) return 0;
  const space = text.slice(from, to).search(/\s/u);
  return space < 0 ? codePointStart(text, from) : from + space + 1;
}

/** Returns the last end of a word up to `to`. Words longer than 40 characters are cut. */
function wordEnd(text: string, to: number): number {
  if (to >= text.length) return text.length;
  const space = text.slice(to - 40, to + 1).search(/\s\S*$/u);
  return space < 0 ? codePointStart(text, to) : to - 40 + space;
}

/** Moves an offset between two surrogates to the first of them. */
function codePointStart(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at;
}

function markMatches(text: string, start: number, end: number, matches: readonly Match[]): string {
  let html = '';
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.end > end) {
      // Terms of scripts without spaces overlap by one character: the rest of the second term extends the same mark.
      if (match.start >= start && match.end > at && match.end <= end && html.endsWith(STOP)) {
        html = html.slice(0, -STOP.length) + escapeLine(text.slice(at, match.end)) + STOP;
        at = match.end;
      }
      continue;
    }
    html += `${escapeLine(text.slice(at, match.start))}${START}${escapeLine(text.slice(match.start, match.end))}${STOP}`;
    at = match.end;
  }
  return html + escapeLine(text.slice(at, end));
}

const START = '<mark>';
const STOP = '</mark>';

/** Escapes a text for HTML, on one line. */
function escapeLine(text: string): string {
  return escapeHtml(text.replace(/\s+/g, ' '));
}

/** Returns the last heading that starts at or before `offset`. */
export function headingAt(outline: { text: string; anchor: string; offset: number }[], offset: number) {
  let heading = { text: '', anchor: '' };
  for (const entry of outline) if (entry.offset <= offset) heading = entry;
  return { heading: heading.text, anchor: heading.anchor };
}
