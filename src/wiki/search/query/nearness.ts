import { foldText, isUnspaced, runAt, type Token, termOf } from '@ibid/markdown/analysis/tokenize.ts';
import { foldInPlace, placesOf, startOfWord, stemPrefix } from './find-words.ts';
import { ageOf, type Candidate, type Cut } from './rank.ts';

/** Two words that are next to each other in a query, by their terms. */
export interface Neighbours {
  first: string;
  second: string;
  /** How many characters may be between them, as in the query. */
  gap: number;
}

/** How many more characters than in the query may be between two words that are next to each other: ", ", "** ". */
const SLACK = 3;
/** How far two words may be apart that are near each other, in either order, and how much of a pair that is. */
const NEAR = 40;
const NEAR_WORTH = 0.4;

/** A longer query is a text, whose words are not expected next to each other. */
const MAX_WORDS = 16;

/** How many of the best hits are raised, by what at most, and how much of their texts is read for it. */
export const MAX_RAISED = 12;
const RAISE = 0.4;
const CHARACTERS_READ = 4_000;

/** How many places of a word are looked at. */
const MAX_PLACES = 100;

/** The pairs of words that are next to each other in a query; none where that has one word, or many. */
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
 * How many of the pairs, from 0 to 1, are next to each other in a text or its title too; for those that are only near each other,
 * a part.
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
      shared[i] = Math.max(shared[i] as number, worthOf(firsts, find(second), gap + SLACK));
    }
  }
  return shared.reduce((sum, worth) => sum + worth, 0) / Math.max(1, pairs.length);
}

/**
 * Whether a list that goes on behind this hit begins among those that are raised. They are before all others, since nothing is
 * lowered.
 */
export function beginsAmongRaised(best: readonly Candidate[], behind: Cut['behind']): boolean {
  const last = best[MAX_RAISED - 1];
  if (!behind || !last) return true;
  return behind.score > last.score || (behind.score === last.score && -behind.document_no < ageOf(last));
}

/** A hit as a statement answers it that has all hits that may be raised, with their texts, and others around those asked for. */
export interface NearHit {
  title: string;
  text: string;
  score: number;
  sort_number: number;
  sort_text: string;
  is_near: boolean;
  /** Among all hits before any is raised, from 1 on. */
  place: number;
}

/** Which of the hits are asked for. */
export interface Part {
  limit: number;
  offset: number;
  /** The keys of the hit that the list goes on behind. */
  after: readonly (string | number)[] | undefined;
}

/** The hits of a part of the list, raised by what their texts have of the pairs, best first. */
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

function worthOf(firsts: readonly Place[], seconds: readonly Place[], most: number): number {
  let worth = 0;
  let at = 0;
  for (const first of firsts) {
    while (at < seconds.length && (seconds[at] as Place).end < first.start - NEAR) at += 1;
    for (let i = at; i < seconds.length; i += 1) {
      const second = seconds[i] as Place;
      if (second.start > first.end + NEAR) break;
      // Pairs of characters overlap in scripts without spaces.
      if (second.start > first.start && second.start - first.end <= most) return 1;
      worth = NEAR_WORTH;
    }
  }
  return worth;
}

/** The first places of a term, in order. */
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
