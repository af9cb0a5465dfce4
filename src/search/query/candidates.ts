import { type Sql, sql } from '../../db/sql.ts';
import type { Index } from '../index/pending.ts';
import type { Candidate } from './rank.ts';

/** The document number of what has none yet: it comes behind all others of the same score. */
export const PENDING_NO = 2_147_483_646;

/** The rows (id, score, no) of candidates, with document numbers resolved to ids. */
export function candidatesCte({ wiki_id, kind }: Index, candidates: readonly Candidate[]): Sql {
  const indexed = candidates.filter(({ document_no }) => document_no >= 0);
  const pending = candidates.filter(({ document_no }) => document_no < 0);
  return sql`
    select d.document_id as id, c.score, c.no
    from unnest(${indexed.map(({ document_no }) => document_no)}::int[], ${indexed.map(({ score }) => score)}::float8[]) c (no, score)
    join search_documents d on d.wiki_id = ${wiki_id} and d.kind = ${kind} and d.document_no = c.no
    union all
    select c.id, c.score, ${PENDING_NO}::int as no
    from unnest(${pending.map(({ document_id }) => document_id)}::text[], ${pending.map(({ score }) => score)}::float8[]) c (id, score)`;
}
