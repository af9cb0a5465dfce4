import { indexBody, indexTitle, occurrencesOf, readCounts } from '@ibid/markdown/analysis/document-terms.ts';
import { TITLE_WORD_PREFIX } from '@ibid/markdown/analysis/title-key.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import type { Sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { readIndex } from './postings/read-index.ts';
import { type IndexData, type PendingDocument, rank } from './rank.ts';

/** How much of a text says what it is about. */
export const RELATED_CHARACTERS = 5_000;

/** By how many of its words a document is compared: of the most frequent ones those that say most. */
const MOST_FREQUENT = 60;
const MOST_TELLING = 24;
/** One or two words in common say nothing. */
const LEAST_TELLING = 3;
/** A word of the title is worth as many of the text. */
const TITLE_WORTH = 4;

/** A document is related whose score is this part of what the compared one would have. */
const LEAST_LIKENESS = 0.25;

/** The documents that are like one with this title and text, itself among them, as a CTE (id, score, no); undefined if there are none. */
export async function findRelated(
  many: Statements['many'],
  index: Index,
  { title, text }: { title: string; text: string },
  most: number,
): Promise<Sql | undefined> {
  const counts = countsOf(title, text);
  if (counts.size === 0) return undefined;
  const data = await readIndex(many, index, [...counts.keys()], []);
  const terms = mostTelling(data, counts);
  if (terms.size < LEAST_TELLING) return undefined;
  const { best } = rank(data, { terms, required: [], excluded: [], coordinated: [], equal: '', parts: [] }, most);
  const [first] = best;
  const like = best.filter(({ score }) => score >= LEAST_LIKENESS * (first?.score ?? 0));
  return like.length === 0 ? undefined : candidatesCte(index, like);
}

/** The most frequent terms, with how often they are there. */
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

/** Of these terms those that are on few documents, weighed by how often the document has them. */
function mostTelling({ index, terms, pending }: IndexData, counts: ReadonlyMap<string, number>): Map<string, number> {
  const has = ({ terms }: PendingDocument, term: string) =>
    terms !== undefined && (terms.body_terms.includes(` ${term}:`) || terms.title_terms.includes(` ${term}:`));
  const weighed = [...counts].flatMap(([term, count]) => {
    // What was written a moment ago and is in the index too counts twice until it is merged.
    const documents = (terms.get(term)?.documents ?? 0) + pending.filter((document) => has(document, term)).length;
    // Only the document itself has it.
    if (documents < 2) return [];
    const rarity = Math.log(1 + index.documents / documents);
    return [{ term, weight: (count / (count + 1)) * rarity }];
  });
  const telling = weighed.sort((one, other) => other.weight - one.weight).slice(0, MOST_TELLING);
  return new Map(telling.map(({ term, weight }) => [term, weight]));
}
