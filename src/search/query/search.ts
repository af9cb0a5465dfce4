import type { Statements } from '../../access/guard.ts';
import { termOf } from '../../analysis/tokenize.ts';
import { type Sql, sql } from '../../db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { meantWords } from './correct-words.ts';
import type { ParsedQuery } from './parse-query.ts';
import { type Found, rank, type Wanted } from './rank.ts';
import { readIndex } from './read-index.ts';
import { verified } from './verify-phrases.ts';

/** Documents beyond those that are shown, in the place of those that are hidden from the caller. */
const SPARE = 32;

/** Of these the phrases and titles are looked at; a query with more hits that hold all words finds the best of them. */
const VERIFIED = 500;

/** A word that the query's last one is the beginning of counts less than one that was typed. */
const COMPLETION_WEIGHT = 0.5;

export interface Hits<Row> {
  rows: Row[];
  /** The terms that count, for the passages. */
  terms: ReadonlySet<string>;
}

/**
 * Searches an index: its postings are read and ranked, then `show` gives the statement that answers the rows of the
 * step `candidates` (id and score) that the caller may see, best first and cut. Two statements; more for words that the
 * wiki does not know, for phrases, and where many of the best are hidden.
 */
export async function searchIndex<Row>(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  { limit, offset }: { limit: number; offset: number },
  show: { steps: Record<string, Sql>; isVisible: Sql },
): Promise<Hits<Row>> {
  const { found, wanted } = await understand(many, index, query);
  const terms = new Set(wanted.terms.keys());
  const isChecked = query.phrases.length > 0 || query.titles.length > 0;
  const all = found.index.next_no + found.pending.length + 1;
  for (const most of [isChecked ? VERIFIED : limit + offset + SPARE, all]) {
    const ranked = rank(found, wanted, most);
    const best = isChecked ? await verified(many, index, ranked.best, query, show.isVisible) : ranked.best;
    if (best.length === 0) return { rows: [], terms };
    const rows = await many<Row>({ candidates: candidatesCte(index, best), ...show.steps });
    if (rows.length >= limit || ranked.isAll || isChecked || most === all) return { rows, terms };
  }
  return { rows: [], terms };
}

/** The score of a candidate `c` as it is shown: more where the query is its title. */
export function scoreWithTitle(title: Sql, query: string): Sql {
  return sql`case when lower(${title}) = lower(${query}) then c.score * 1.5 + 2 else c.score end`;
}

interface Understood {
  found: Found;
  wanted: Wanted;
  /** Words that the wiki does not know, and what each is likely to have been meant as. */
  corrected: ReadonlyMap<string, string>;
}

/** Reads what the index has for the words, and for what unknown ones may mean. */
export async function understand(
  many: Statements['many'],
  index: Index,
  { words, phrases, excluded, titles }: ParsedQuery,
): Promise<Understood> {
  // Whoever writes a word twice does not mean it twice as much.
  const weights = new Map(words.map(({ term }) => [term, 1]));
  const inPhrases = new Set(phrases.flat().map(termOf));
  // Words that say nothing are in no index of texts, so that a phrase with them is only looked for in the text.
  const required = [...new Set([...titles, ...[...inPhrases].filter((term) => weights.has(term))])];
  const wanted: Wanted = { terms: weights, required, excluded };
  const needed = [...new Set([...required, ...excluded.flat()])];
  const found = await readIndex(many, index, [...weights.keys()], needed);
  if (weights.size === 0) return { found, wanted, corrected: new Map() };
  const isKnown = (term: string) =>
    found.terms.has(term) ||
    found.pending.some(({ terms }) => terms && ` ${terms.title_terms}${terms.body_terms}`.includes(` ${term}:`));
  const unknown = [...new Map(words.filter(({ term }) => !isKnown(term)).map((token) => [token.word, token])).values()];
  const meant = await meantWords(
    many,
    index,
    unknown.map(({ word }) => word),
    words.at(-1)?.word ?? '',
  );
  if (meant.length === 0) return { found, wanted, corrected: new Map() };
  const candidates = [...new Set(meant.flatMap((each) => each.words.map(termOf)))];
  // All anew, so that all is of one moment.
  const again = await readIndex(many, index, [...weights.keys(), ...candidates], needed);
  const documentsOf = (word: string) => again.terms.get(termOf(word))?.documents ?? 0;
  const corrected = new Map<string, string>();
  for (const { unknown: word, how, words: others } of meant) {
    // Of several corrections the word that is used most is the likeliest.
    const known = others.filter((other) => documentsOf(other) > 0).sort((a, b) => documentsOf(b) - documentsOf(a));
    if (known[0] !== undefined) corrected.set(word, known[0]);
    for (const other of how === 'correction' ? known.slice(0, 1) : known) {
      const term = termOf(other);
      if (!weights.has(term)) weights.set(term, how === 'correction' ? 1 : COMPLETION_WEIGHT);
    }
  }
  return { found: again, wanted, corrected };
}
