import type { Statements } from '../../access/guard.ts';
import { PREFIX_END, reverseText } from '../../analysis/document-terms.ts';
import { isUnspaced } from '../../analysis/tokenize.ts';
import { sql } from '../../db/sql.ts';
import type { Index } from '../index/pending.ts';

/** A query with many unknown words is no typing error; only this many are corrected. */
const MAX_CORRECTED_WORDS = 4;
const MAX_CANDIDATES = 1_000;

/** Words of the wiki that may replace an unknown one: its completions, or else the most similar words. */
export interface WordSuggestion {
  unknown: string;
  /** completion: words of the wiki that begin with the unknown one. */
  how: 'completion' | 'correction';
  words: string[];
}

/**
 * Suggests words of the wiki for unknown words. A typing error leaves the first or the second half of a word intact, so
 * both are looked up by the keys of search_words, and the results are compared by edit distance. `last` may be
 * incomplete.
 */
export async function suggestWords(
  many: Statements['many'],
  { wiki_id, kind }: Index,
  unknown: readonly string[],
  last: string,
): Promise<WordSuggestion[]> {
  const misspelled = unknown
    .filter((word) => /^\p{L}[\p{L}\p{M}]*$/u.test(word) && !isUnspaced(word))
    .slice(0, MAX_CORRECTED_WORDS);
  if (misspelled.length === 0) return [];
  const parts = misspelled.map((word) => {
    const length = [...word].length;
    const kept = length < 4 ? length : Math.max(2, Math.floor((length - 1) / 2));
    const characters = [...word];
    return {
      word,
      length,
      from: characters.slice(0, kept).join(''),
      end: reverseText(characters.slice(-kept).join('')),
    };
  });
  const rows = await many<{ unknown: string; how: string; word: string }>(sql`
    select u.word as unknown, found.how, found.word
    from unnest(${misspelled}::text[], ${parts.map(({ length }) => length)}::int[], ${parts.map(({ from }) => from)}::text[],
      ${parts.map(({ end }) => end)}::text[]) u (word, length, beginning, ending)
    cross join lateral (
      (select 'completion' as how, w.word from search_words w
        where u.word = ${last} and u.length > 1 and w.wiki_id = ${wiki_id} and w.kind = ${kind}
          and w.word > u.word and w.word < u.word || ${PREFIX_END} limit 20)
      union all
      (select 'correction', w.word from search_words w
        where u.length > 3 and w.wiki_id = ${wiki_id} and w.kind = ${kind} and w.word >= u.beginning
          and w.word < u.beginning || ${PREFIX_END} and length(w.word) between u.length - 2 and u.length + 2 limit ${MAX_CANDIDATES})
      union all
      (select 'correction', w.word from search_words w
        where u.length > 3 and w.wiki_id = ${wiki_id} and w.kind = ${kind} and w.backwards >= u.ending
          and w.backwards < u.ending || ${PREFIX_END} and length(w.word) between u.length - 2 and u.length + 2 limit ${MAX_CANDIDATES})
    ) found`);
  return misspelled.flatMap((word): WordSuggestion[] => {
    const own = rows.filter((row) => row.unknown === word);
    const completions = own.filter(({ how }) => how === 'completion').map((row) => row.word);
    if (completions.length > 0) return [{ unknown: word, how: 'completion', words: completions }];
    const words = nearestWords(word, new Set(own.map((row) => row.word)));
    return words.length === 0 ? [] : [{ unknown: word, how: 'correction', words }];
  });
}

/** The words at the least edit distance: at most 1, or 2 for words of 8 characters and more. */
function nearestWords(word: string, candidates: ReadonlySet<string>): string[] {
  const most = word.length < 8 ? 1 : 2;
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

/**
 * The Damerau-Levenshtein distance (optimal string alignment): substitutions, insertions, deletions and transpositions
 * of neighbours. Returns `most + 1` for any distance above `most`.
 */
export function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      let errors = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (isSame ? 0 : 1),
      );
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        errors = Math.min(errors, (before[j - 2] as number) + 1);
      }
      row.push(errors);
      least = Math.min(least, errors);
    }
    if (least > most) return most + 1;
    [before, last] = [last, row];
  }
  return last[other.length] as number;
}
