import type { Statements } from '../../access/guard.ts';
import { MAX_INDEXED_CHARACTERS } from '../../analysis/document-terms.ts';
import { termOf, tokenize } from '../../analysis/tokenize.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import type { Index } from '../index/pending.ts';
import { candidatesCte } from './candidates.ts';
import { containsPhrase } from './find-words.ts';
import type { ParsedQuery } from './parse-query.ts';
import type { Candidate } from './rank.ts';

/** How much text is read to verify phrases, which limits the cost of a query. */
const MAX_CHARACTERS_READ = 4_000_000;

/**
 * The candidates whose text contains the phrases and whose title contains the title terms. Candidates contain all words
 * already.
 */
export async function verifyCandidates(
  many: Statements['many'],
  index: Index,
  candidates: readonly Candidate[],
  { phrases, titles }: ParsedQuery,
  isVisible: Sql,
): Promise<Candidate[]> {
  if (candidates.length === 0) return [];
  const { wiki_id, kind } = index;
  const id = raw(`p.${kind}_id`);
  const rows = await many<{ id: string; score: number; title: string; text: string }>({
    candidates: candidatesCte(index, candidates),
    seen: sql`
      select c.id, c.score, p.title, case when ${phrases.length > 0} then left(t.text, ${MAX_INDEXED_CHARACTERS}) else '' end as text
      from candidates c
      join ${raw(`${kind}s`)} p on p.wiki_id = ${wiki_id} and ${id} = c.id
      join ${raw(`${kind}_texts`)} t on t.wiki_id = ${wiki_id} and t.${raw(`${kind}_id`)} = c.id
      where ${isVisible}`,
    result: sql`
      select * from (select s.*, sum(length(s.text)) over (order by s.score desc, s.id) as characters from seen s) r
      where r.characters - length(r.text) < ${MAX_CHARACTERS_READ}`,
  });
  const wanted = phrases.map((phrase) => phrase.map(termOf));
  return rows
    .filter(({ title, text }) => {
      const inTitle = new Set([...tokenize(title)].map(({ term }) => term));
      return (
        titles.every((term) => inTitle.has(term)) &&
        wanted.every((phrase) => containsPhrase(text, phrase) || containsPhrase(title, phrase))
      );
    })
    .map(({ id: document_id, score }) => ({ document_id, document_no: -1, score }));
}
