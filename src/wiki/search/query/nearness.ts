import { foldText, isUnspaced, runAt, type Token, termOf } from '@ibid/markdown/analysis/tokenize.ts';
import { foldInPlace, placesOf, startOfWord, stemPrefix } from './find-words.ts';
import { ageOf, type Candidate, type Cut } from './rank.ts';

/** The terms of two adjacent words of a query. */
export interface Neighbours {
  first: string;
  second: string;
  /** Number of characters between them in the query. */
  gap: number;
}

/** Characters that adjacent words may be further apart in a text than in the query: ", ", "** ". */
const SLACK = 3;
/**
 * Maximum distance of words that are near each other, in either order, and their worth relative to an adjacent pair.
 */
const NEAR = 40;
const NEAR_WORTH = 0.4;

/** Longer queries are texts, whose words are not expected to be adjacent elsewhere. */
const MAX_WORDS = 16;

/** Number of top hits that are raised, their maximum raise, and the characters of text that are checked. */
export const MAX_RAISED = 12;
const RAISE = 0.4;
const CHARACTERS_READ = 4_000;

/** Maximum number of occurrences of a word to check. */
const MAX_PLACES = 100;

/** Returns the pairs of adjacent words in a query; empty for a single word or a long query. */
export function neighboursIn(words: readonly Token[]): Neighbours[] {
  if (words.length > MAX_WORDS) return [];
  return words.slice(1).flatMap((second, i) => {
    const first = words[i] as Token;
    return first.term === second.term
      ? []
      : [{ first: first.term, second: second.term, gap: second.start - first.end }];
  });
}

/**
 * Returns the share of pairs, 0 to 1, that are adjacent in the title or the text. Pairs that are only near each other
 * count partly.
 */
function nearnessOf(pairs: readonly Neighbours[], title: string, text: string): number {
  const shared = pairs.map(() => 0);
  for (const one of [title, text]) {
    const folded = foldInPlace(one);
    const places = new Map<string, Place[]>();
    const find = (term: string) => {
      const known = places.get(term) ?? placesOfTerm(one, folded, term);
      places.set(term, known);
      return known;
    };
    for (const [i, { first, second, gap }] of pairs.entries()) {
      if (shared[i] === 1) continue;
      const firsts = find(first);
      if (firsts.length === 0) continue;
      shared[i] = Math.max(shared[i] as number, pairScore(firsts, find(second), gap + SLACK));
    }
  }
  return shared.reduce((sum, worth) => sum + worth, 0) / Math.max(1, pairs.length);
}

/**
 * Whether the page of results after this hit begins among the raised hits. These precede all others, because raising
 * never lowers a score.
 */
export function beginsAmongRaised(best: readonly Candidate[], behind: Cut['behind']): boolean {
  const last = best[MAX_RAISED - 1];
  if (!behind || !last) return true;
  return behind.score > last.score || (behind.score === last.score && -behind.document_no < ageOf(last));
}

/**
 * A hit of a statement that returns all hits that may be raised, with their texts, and the hits around the requested
 * page.
 */
export interface NearHit {
  title: string;
  text: string;
  score: number;
  sort_number: number;
  sort_text: string;
  is_near: boolean;
  /** Rank before any hit is raised, from 1. */
  place: number;
}

/** The requested page of hits. */
export interface Part {
  limit: number;
  offset: number;
  /** The keys of the last hit of the previous page. */
  after: readonly (string | number)[] | undefined;
}

/** Raises hits by the pairs found in their texts, and returns the hits of the requested page, best first. */
export function raiseNear<Row extends NearHit>(
  rows: readonly Row[],
  pairs: readonly Neighbours[],
  { limit, offset, after }: Part,
): Row[] {
  const raised = rows.map((row) => {
    if (!row.is_near) return row;
    const near = nearnessOf(pairs, row.title, row.text.slice(0, CHARACTERS_READ));
    const score = row.score * (1 + RAISE * near);
    return { ...row, score, sort_number: score };
  });
  const [number, text = ''] = after ?? [];
  const isBehind = (row: Row) =>
    typeof number !== 'number' ||
    row.sort_number < number ||
    (row.sort_number === number && row.sort_text < String(text));
  const sorted = raised.filter((row) => isBehind(row)).sort(compareHits);
  const omitted = Math.max(0, offset - MAX_RAISED);
  const before = omitted - rows.filter(({ is_near, place }) => is_near && place <= omitted).length;
  return sorted.slice(offset - before, offset - before + limit);
}

function compareHits(one: NearHit, other: NearHit): number {
  return other.sort_number - one.sort_number || (one.sort_text < other.sort_text ? 1 : -1);
}

interface Place {
  start: number;
  end: number;
}

function pairScore(firsts: readonly Place[], seconds: readonly Place[], most: number): number {
  let worth = 0;
  let at = 0;
  for (const first of firsts) {
    while (at < seconds.length && (seconds[at] as Place).end < first.start - NEAR) at += 1;
    for (let i = at; i < seconds.length; i += 1) {
      const second = seconds[i] as Place;
      if (second.start > first.end + NEAR) break;
      // In scripts without spaces, terms are overlapping pairs of characters.
      if (second.start > first.start && second.start - first.end <= most) return 1;
      worth = NEAR_WORTH;
    }
  }
  return worth;
}

/** Returns the first occurrences of a term, in order. */
function placesOfTerm(text: string, folded: string, term: string): Place[] {
  const places: Place[] = [];
  const isPair = isUnspaced(term);
  for (const at of placesOf(folded, isPair ? term : stemPrefix(term))) {
    if (places.length >= MAX_PLACES) break;
    if (isPair) {
      places.push({ start: at, end: at + term.length });
      continue;
    }
    const start = startOfWord(folded, at);
    if (start === undefined) continue;
    const run = runAt(text, start);
    if (run !== '' && termOf(foldText(run)) === term) places.push({ start, end: start + run.length });
  }
  return places.sort((one, other) => one.start - other.start);
}
