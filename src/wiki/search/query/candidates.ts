import { arrayText, raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../index/pending.ts';
import type { Candidate } from './rank.ts';

/**
 * The document number of pending documents without one. It is higher than all others, because among equal scores the
 * newest document comes first.
 */
export const PENDING_NO = 2_147_483_646;

/**
 * Selects rows (id, score, no, is_near) of candidates, with document numbers resolved to ids. The first `near`
 * candidates have is_near set.
 */
export function candidatesCte({ wiki_id, kind }: Index, candidates: readonly Candidate[], near = 0): Sql {
  const nearest = new Set(candidates.slice(0, near));
  const indexed = candidates.filter(({ document_no }) => document_no >= 0);
  const pending = candidates.filter(({ document_no }) => document_no < 0);
  const scores = (of: readonly Candidate[]) => arrayText(of.map(({ score }) => score));
  const areNear = (of: readonly Candidate[]) => arrayText(of.map((each) => nearest.has(each)));
  return sql`
    select d.document_id as id, c.score, c.no, c.is_near
    from unnest(${arrayText(indexed.map(({ document_no }) => document_no))}::int[], ${scores(indexed)}::float8[],
      ${areNear(indexed)}::boolean[]) c (no, score, is_near)
    cross join lateral (
      select d.document_id from search_documents d
      where d.wiki_id = ${wiki_id} and d.kind = ${kind} and d.document_no = c.no offset 0) d
    union all
    select c.id, c.score, ${PENDING_NO}::int as no, c.is_near
    from unnest(${pending.map(({ document_id }) => document_id)}::text[], ${scores(pending)}::float8[],
      ${areNear(pending)}::boolean[]) c (id, score, is_near)`;
}

/**
 * Joins candidates `c` with their pages `p`, or sources `s`. `offset 0` forces one lookup per candidate: the planner
 * does not know the size of a wiki, and might read a large one completely to join a few rows.
 */
export function candidateDocuments({ wiki_id, kind }: Index, candidates: Sql = raw('candidates')): Sql {
  const d = letterOf(kind);
  return sql`${candidates} c cross join lateral (
    select ${d}.* from ${raw(`${kind}s`)} ${d} where ${d}.wiki_id = ${wiki_id} and ${d}.${raw(`${kind}_id`)} = c.id offset 0) ${d}`;
}

function letterOf(kind: Index['kind']): Sql {
  return raw(kind === 'page' ? 'p' : 's');
}
