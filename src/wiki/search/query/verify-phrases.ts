import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnspaced, termOf, tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidateDocuments, candidatesCte, PENDING_NO } from './candidates.ts';
import { containsName, findPhrase, hasForm } from './find-phrase.ts';
import type { ParsedQuery } from './parse-query.ts';
import type { Candidate } from './rank.ts';

/** Number of texts in the first batch, and growth factor of the following ones. */
const FIRST_BATCH = 50;
const GROWTH = 3;
/** Maximum number of characters read to verify phrases, which limits the cost of a query. */
const MAX_CHARACTERS_READ = 4_000_000;

/** Characters searched before yielding to the event loop. */
const CHARACTERS_PER_TURN = 200_000;

/** Longer than any text. */
const WHOLE = 2 ** 31 - 1;

/** Conditions that the index cannot answer, so that they are checked in texts and titles. */
export interface TextConditions
  extends Pick<ParsedQuery, 'phrases' | 'literals' | 'titles' | 'excludedPhrases' | 'excludedTitles'> {}

export function hasConditions({ phrases, titles, excludedPhrases, excludedTitles }: TextConditions): boolean {
  return [phrases, titles, excludedPhrases, excludedTitles].some((conditions) => conditions.length > 0);
}

/**
 * Returns candidates that meet the conditions, best first. Reads texts in growing batches, best candidates first, until
 * `enough` candidates are verified or MAX_CHARACTERS_READ characters were read.
 */
export async function verifyCandidates(
  many: Statements['many'],
  index: Index,
  candidates: readonly Candidate[],
  conditions: TextConditions,
  isFound: Sql,
  enough: number,
): Promise<Candidate[]> {
  const meets = conditionOf(conditions);
  const readsTexts = conditions.phrases.length + conditions.excludedPhrases.length > 0;
  const verified: Candidate[] = [];
  let characters = 0;
  let sinceTurn = 0;
  let size = readsTexts ? FIRST_BATCH : candidates.length;
  for (
    let at = 0;
    at < candidates.length && characters < MAX_CHARACTERS_READ && verified.length < enough;
    size *= GROWTH
  ) {
    const batch = candidates.slice(at, at + size);
    at += batch.length;
    const most = { ofEach: readsTexts ? WHOLE : 0, ofAll: MAX_CHARACTERS_READ - characters };
    for (const row of await readTexts(many, index, batch, isFound, most)) {
      characters += row.text.length;
      sinceTurn += row.text.length;
      if (sinceTurn > CHARACTERS_PER_TURN) {
        sinceTurn = 0;
        await nextTurn();
      }
      if (!meets(row)) continue;
      verified.push({ document_id: row.id, document_no: row.no === PENDING_NO ? -1 : row.no, score: row.score });
    }
  }
  return verified;
}

interface TextRow {
  id: string;
  no: number;
  score: number;
  title: string;
  text: string;
}

/**
 * Reads titles and texts of the candidates that the caller may see, best first. `most`: maximum characters of each
 * text, and of all together.
 */
function readTexts(
  many: Statements['many'],
  index: Index,
  batch: readonly Candidate[],
  isFound: Sql,
  most: { ofEach: number; ofAll: number },
): Promise<TextRow[]> {
  const { wiki_id, kind } = index;
  const d = raw(kind === 'page' ? 'p' : 's');
  const id = raw(`${kind}_id`);
  return many<TextRow>({
    candidates: candidatesCte(index, batch),
    seen: sql`
      select c.id, c.no, c.score, ${d}.title, left(t.text, ${most.ofEach}::int) as text
      from ${candidateDocuments(index)}
      cross join lateral (
        select t.text from ${raw(`${kind}_texts`)} t where t.wiki_id = ${wiki_id} and t.${id} = c.id offset 0) t
      where ${isFound}`,
    result: sql`
      select * from (select s.*, sum(length(s.text)) over (order by s.score desc, s.id) as characters from seen s) r
      where r.characters - length(r.text) < ${most.ofAll} order by r.score desc, r.id`,
  });
}

/** Whether a text contains a phrase. A quoted single word must match exactly: "cats" does not match "cat". */
function hasPhrase(text: string, phrase: readonly string[]): boolean {
  const [word = ''] = phrase;
  return phrase.length === 1 && !isUnspaced(word)
    ? hasForm(text, word)
    : findPhrase(text, phrase.map(termOf)) !== undefined;
}

/** Returns a function that tells whether a text with its title meets the conditions. */
function conditionOf({ phrases, literals, titles, excludedPhrases, excludedTitles }: TextConditions) {
  return ({ title, text }: { title: string; text: string }): boolean => {
    const inTitle = new Set([...tokenize(title)].map(({ term }) => term));
    const isHeld = (phrase: readonly string[]) => hasPhrase(text, phrase) || hasPhrase(title, phrase);
    const isNamed = (literal: string) => containsName(text, literal) || containsName(title, literal);
    return (
      titles.every((term) => inTitle.has(term)) &&
      !excludedTitles.some((terms) => terms.every((term) => inTitle.has(term))) &&
      phrases.every(isHeld) &&
      literals.every(isNamed) &&
      !excludedPhrases.some(({ words, literal }) => (literal === undefined ? isHeld(words) : isNamed(literal)))
    );
  };
}
