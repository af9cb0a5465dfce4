import { indexBody, indexTitle, occurrencesOf, readCounts } from '@ibid/markdown/analysis/document-terms.ts';
import { TITLE_WORD_PREFIX } from '@ibid/markdown/analysis/title-key.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import type { Sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { readIndex } from './postings/read-index.ts';
import { type IndexData, type PendingDocument, rank } from './rank.ts';

/** Characters of a text that represent its subject. */
export const RELATED_CHARACTERS = 5_000;

/** A document is compared by the rarest of its most frequent words; their numbers. */
const MOST_FREQUENT = 60;
const MOST_TELLING = 24;
/** One or two common words say nothing. */
const LEAST_TELLING = 3;
/** A word of the title counts as this many words of the text. */
const TITLE_WORTH = 4;

/** Minimum score of a related document, relative to the score of the compared document itself. */
const LEAST_LIKENESS = 0.25;

/**
 * Finds documents similar to this title and text, including the document itself. Returns a CTE (id, score, no), or
 * undefined if it finds none.
 */
export async function findRelated(
  many: Statements['many'],
  index: Index,
  { title, text }: { title: string; text: string },
  most: number,
): Promise<Sql | undefined> {
  const counts = countsOf(title, text);
  if (counts.size === 0) return undefined;
  const data = await readIndex(many, index, [...counts.keys()], []);
  const terms = pickDistinctiveTerms(data, counts);
  if (terms.size < LEAST_TELLING) return undefined;
  const { best } = rank(data, { terms, required: [], excluded: [], coordinated: [], equal: '', parts: [] }, most);
  const [first] = best;
  const like = best.filter(({ score }) => score >= LEAST_LIKENESS * (first?.score ?? 0));
  return like.length === 0 ? undefined : candidatesCte(index, like);
}

/** Returns the most frequent terms with their counts. */
function countsOf(title: string, text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (terms: string, worth: number) => {
    for (const [term, count] of readCounts(terms)) {
      const times = occurrencesOf(count);
      if (times > 0 && !term.startsWith(TITLE_WORD_PREFIX)) counts.set(term, (counts.get(term) ?? 0) + worth * times);
    }
  };
  add(indexTitle(title).terms, TITLE_WORTH);
  add(indexBody(text).terms, 1);
  return new Map([...counts].sort(([, one], [, other]) => other - one).slice(0, MOST_FREQUENT));
}

/** Chooses the terms that occur in few documents, weighted by their frequency in the compared document. */
function pickDistinctiveTerms(
  { index, terms, pending }: IndexData,
  counts: ReadonlyMap<string, number>,
): Map<string, number> {
  const has = ({ terms }: PendingDocument, term: string) =>
    terms !== undefined && (terms.body_terms.includes(` ${term}:`) || terms.title_terms.includes(` ${term}:`));
  const weighed = [...counts].flatMap(([term, count]) => {
    // Until the merge, a pending document that is also indexed counts twice.
    const documents = (terms.get(term)?.documents ?? 0) + pending.filter((document) => has(document, term)).length;
    // Only the compared document contains the term.
    if (documents < 2) return [];
    const rarity = Math.log(1 + index.documents / documents);
    return [{ term, weight: (count / (count + 1)) * rarity }];
  });
  const telling = weighed.sort((one, other) => other.weight - one.weight).slice(0, MOST_TELLING);
  return new Map(telling.map(({ term, weight }) => [term, weight]));
}
