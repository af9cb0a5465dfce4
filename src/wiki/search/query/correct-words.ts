import { PREFIX_END, reverseText } from '@ibid/markdown/analysis/document-terms.ts';
import { isUnspaced } from '@ibid/markdown/analysis/tokenize.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { editDistance } from '../../../platform/core/edit-distance.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import { hasWord, wordsBetween } from '../index/vocabulary.ts';
import { termsBeginning } from './terms-beginning.ts';

/** Maximum number of words to correct: a query with many unknown words is not misspelled. */
const MAX_CORRECTED_WORDS = 4;
const MAX_CANDIDATES = 1_000;

/** Maximum number of character pairs to complete a single character with. */
const MAX_PAIRS = 50;
/** Maximum number of pending documents whose words are searched. */
const MAX_PENDING = 64;
/** Minimum lengths: shorter parts and endings occur in too many other words. */
const MIN_PART = 3;
const MIN_ENDING = 5;

/** Words of the wiki to search for instead of an unknown word. */
export interface WordSuggestion {
  unknown: string;
  /**
   * completion: words that begin with the unknown word. correction: the most similar words. compound: words that end
   * with it ("Grundverordnung" for "Verordnung"). parts: the two words that it consists of. name: the words of a
   * camel-case name.
   */
  how: 'completion' | 'correction' | 'compound' | 'parts' | 'name';
  words: string[];
}

/**
 * Suggests words of the wiki for unknown words. A typing error leaves the first or the second half of a word intact, so
 * both are looked up, and the results are compared by edit distance. If this finds no suggestion, a long word is looked
 * up by its first and last third, which two errors seldom both hit. `last` may be incomplete. Words of pending
 * documents are found too.
 */
export async function suggestWords(
  many: Statements['many'],
  { wiki_id, kind }: Index,
  unknown: readonly string[],
  last: string,
): Promise<WordSuggestion[]> {
  const misspelled = unknown
    .filter((word) => /^\p{L}[\p{L}\p{M}]*$/u.test(word) && (!isUnspaced(word) || isCharacter(word)))
    .slice(0, MAX_CORRECTED_WORDS);
  const numbered = unknown.slice(0, MAX_CORRECTED_WORDS).flatMap(partsWithNumber);
  if (misspelled.length === 0) return numbered;
  const suggestions = await lookUpWords(many, { wiki_id, kind }, misspelled, last, 2);
  const helped = new Set(suggestions.map(({ unknown: word }) => word));
  const others = misspelled.filter((word) => errorsIn(word) > 1 && !helped.has(word));
  if (others.length === 0) return [...numbered, ...suggestions];
  return [...numbered, ...suggestions, ...(await lookUpWords(many, { wiki_id, kind }, others, last, 3))];
}

const ORDINAL = /^\d+(?:st|nd|rd|th)$/;

/** Splits "sha256" and "10gb", which are often written as two words. */
function partsWithNumber(word: string): WordSuggestion[] {
  if (ORDINAL.test(word)) return [];
  const [, first, second] = /^(\p{L}+)(\p{N}+)$/u.exec(word) ?? /^(\p{N}+)(\p{L}+)$/u.exec(word) ?? [];
  return first !== undefined && second !== undefined ? [{ unknown: word, how: 'parts', words: [first, second] }] : [];
}

/** Looks words up by their first and last half or third. */
async function lookUpWords(
  many: Statements['many'],
  index: Index,
  misspelled: readonly string[],
  last: string,
  pieces: 2 | 3,
): Promise<WordSuggestion[]> {
  const { wiki_id, kind } = index;
  const between = (from: string, isBackwards = false) =>
    wordsBetween(index, raw(from), sql`${raw(from)} || ${PREFIX_END}`, isBackwards);
  const halves = misspelled.map((word) => endsOf(word, pieces));
  const parts = misspelled.flatMap((word) => partsOf(word).flatMap(({ left, right }) => [left, right]));
  const rows = await many<{ unknown: string; how: string; word: string }>(sql`
    with fresh as materialized (
      select distinct v.word, reverse(v.word) as backwards from (
        select p.vocabulary from search_pending p where p.wiki_id = ${wiki_id} and p.kind = ${kind} limit ${MAX_PENDING}
      ) p cross join string_to_table(p.vocabulary, ' ') v (word) where v.word <> ''
    )
    select u.word as unknown, found.how, found.word
    from unnest(${misspelled}::text[], ${halves.map(({ length }) => length)}::int[], ${halves.map(({ from }) => from)}::text[],
      ${halves.map(({ end }) => end)}::text[], ${misspelled.map(reverseText)}::text[])
      u (word, length, beginning, ending, backwards)
    cross join lateral (
      (select 'completion' as how, w.word from (${between('u.word')}) w
        where u.word = ${last} and u.length > 1 and w.word <> u.word limit 20)
      union all
      (select 'completion', f.word from fresh f
        where u.word = ${last} and u.length > 1 and f.word > u.word and starts_with(f.word, u.word) limit 20)
      union all
      (select 'correction', w.word from (${between('u.beginning')}) w
        where u.length > 3 and length(w.word) between u.length - 2 and u.length + 2 limit ${MAX_CANDIDATES})
      union all
      (select 'correction', w.word from (${between('u.ending', true)}) w
        where u.length > 3 and length(w.word) between u.length - 2 and u.length + 2 limit ${MAX_CANDIDATES})
      union all
      (select 'correction', f.word from fresh f
        where u.length > 3 and (starts_with(f.word, u.beginning) or starts_with(f.backwards, u.ending))
          and length(f.word) between u.length - 2 and u.length + 2 limit ${MAX_CANDIDATES})
      union all
      (select 'compound', w.word from (${between('u.backwards', true)}) w
        where u.length >= ${MIN_ENDING} and w.word <> u.word limit 20)
    ) found
    union all
    select '', 'parts', p.word from unnest(${[...new Set(parts)]}::text[]) p (word)
    where ${hasWord(index, raw('p.word'))} or exists (select from fresh f where f.word = p.word)`);
  const pairs = await termsBeginning(many, index, misspelled.filter(isCharacter), MAX_PAIRS);
  const known = new Set(rows.filter(({ how }) => how === 'parts').map(({ word }) => word));
  return misspelled.flatMap((word): WordSuggestion[] => {
    const found = (how: string) => [
      ...new Set(rows.filter((row) => row.unknown === word && row.how === how).map((row) => row.word)),
    ];
    const completions = [...found('completion'), ...(pairs.get(word) ?? [])];
    if (completions.length > 0) return [{ unknown: word, how: 'completion', words: completions }];
    const isKnown = ({ left, right }: { left: string; right: string }) =>
      known.has(left) && (known.has(right) || PARTICLES.includes(right));
    const both = partsOf(word).find(isKnown);
    const suggestions: WordSuggestion[] = [
      { unknown: word, how: 'correction', words: nearestWords(word, new Set(found('correction'))) },
      { unknown: word, how: 'compound', words: found('compound') },
      { unknown: word, how: 'parts', words: both ? [both.left, both.right].filter((part) => known.has(part)) : [] },
    ];
    return suggestions.filter(({ words }) => words.length > 0);
  });
}

/** Whether a word is a single character of a script without spaces. The index contains pairs of such characters. */
export function isCharacter(word: string): boolean {
  return isUnspaced(word) && [...word].length === 1;
}

/** Returns the beginning and the reversed end of a word, each about a half or a third of it. */
function endsOf(word: string, pieces: 2 | 3) {
  const characters = [...word];
  const { length } = characters;
  const kept = length < 4 ? length : Math.max(2, Math.floor((length - (pieces === 2 ? 1 : 0)) / pieces));
  return { length, from: characters.slice(0, kept).join(''), end: reverseText(characters.slice(-kept).join('')) };
}

/** Stop words that follow a verb, joined ("login") or apart ("log in"). */
export const PARTICLES = ['in', 'out', 'on', 'off', 'up', 'down', 'over', 'again'];

/**
 * Returns the ways to split a word in two, the most even first, with and without the linking "s" of German compounds.
 */
function partsOf(word: string): { left: string; right: string }[] {
  const ways: { left: string; right: string; difference: number }[] = [];
  for (let at = MIN_PART; at <= word.length - MIN_PART; at += 1) {
    const [left, right] = [word.slice(0, at), word.slice(at)];
    const difference = Math.abs(left.length - right.length);
    ways.push({ left, right, difference });
    if (left.endsWith('s') && left.length > MIN_PART) ways.push({ left: left.slice(0, -1), right, difference });
  }
  for (const right of PARTICLES) {
    const left = word.slice(0, -right.length);
    if (word.endsWith(right) && left.length >= MIN_PART) ways.push({ left, right, difference: word.length });
  }
  return ways.sort((one, other) => one.difference - other.difference);
}

/** Maximum edit distance of corrections for a word. */
function errorsIn(word: string): 1 | 2 {
  return word.length < 8 ? 1 : 2;
}

/** Returns the words at the smallest edit distance. */
function nearestWords(word: string, candidates: ReadonlySet<string>): string[] {
  const most = errorsIn(word);
  let best = most + 1;
  let words: string[] = [];
  for (const candidate of candidates) {
    const errors = editDistance(word, candidate, Math.min(best, most));
    if (errors > most || errors > best) continue;
    if (errors < best) words = [];
    best = errors;
    words.push(candidate);
  }
  // Typing errors are rare in the first letter.
  const first = words.filter((candidate) => candidate[0] === word[0]);
  return (first.length > 0 ? first : words).slice(0, 8);
}
