import { hasPermission } from '../../../platform/access/access-rule.ts';
import type { Statements } from '../../../platform/access/guard.ts';
import { arrayText, raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from '../../search/index/pending.ts';
import { type Attempt, attempts } from '../../search/query/attempts.ts';
import { candidateDocuments, candidatesCte } from '../../search/query/candidates.ts';
import type { ParsedQuery } from '../../search/query/parse-query.ts';
import type { Candidate } from '../../search/query/rank.ts';
import type { ResolvedQuery } from '../../search/query/resolve-query.ts';
import { readConfirmed } from '../../search/query/search.ts';
import type { Shown } from '../../search/query/shown-documents.ts';
import { IS_FOUND } from '../schema.ts';
import { countKnown } from './known-facts.ts';
import { type CountsRow, type HitCounts, MAX_COUNTED, MAX_NAMED } from './schema.ts';

export const NO_HITS: HitCounts = { total: 0, is_exact: true, authors: [], folders: [], tags: [], statuses: [] };

/** Yields the candidates to count, best first, more with each attempt. */
export function countedAttempts(
  many: Statements['many'],
  index: Index,
  query: ParsedQuery,
  resolved: ResolvedQuery,
  shown: Shown,
): AsyncGenerator<Attempt> {
  return attempts(many, index, query, resolved, { most: MAX_COUNTED + 1, offset: 0, isByRank: true }, shown);
}

interface Counted {
  counts: HitCounts;
  /** Whether another attempt would give the same counts. */
  isEnough: boolean;
}

/** Interprets the counts of an attempt. */
export function countsOf({ isExact, isAll }: Attempt, row: CountsRow): Counted {
  const total = Math.min(row.total, MAX_COUNTED);
  return {
    counts: { ...row, total, is_exact: isExact && row.total <= MAX_COUNTED },
    isEnough: isAll || row.total > MAX_COUNTED,
  };
}

/**
 * Counts the hits of a search. `first`: the counts of its first attempt, if they were read with the hits. Returns
 * undefined if the cached index data is outdated.
 */
export async function countFound(
  many: Statements['many'],
  index: Index,
  resolved: ResolvedQuery,
  shown: Shown,
  of: number,
  tries: AsyncGenerator<Attempt>,
  first?: Counted,
): Promise<HitCounts | undefined> {
  if (first?.isEnough) return first.counts;
  // Without candidates no statement was run that confirms the cached data.
  let counted = first?.counts ?? (resolved.isRecalled ? undefined : NO_HITS);
  for await (const attempt of tries) {
    const { ctes, value, read } = countingOf(many, index, attempt, resolved, shown, of);
    const statement = { ...ctes, result: sql`select ${value} as value` };
    const found = await readConfirmed<{ value: unknown }>(many, index, statement, resolved);
    if (found === undefined) return undefined;
    const { counts, isEnough } = countsOf(attempt, await read(found.rows[0]?.value));
    counted = counts;
    if (isEnough) break;
  }
  return counted;
}

/** How to count an attempt: `value` is JSON, which `read` parses. */
interface Counting {
  ctes: Record<string, Sql>;
  value: Sql;
  read(value: unknown): Promise<CountsRow>;
}

/**
 * Returns how to count an attempt. If the index data was cached and there are no filters, the facts of its pages may be
 * cached too; otherwise the pages are read.
 */
export function countingOf(
  many: Statements['many'],
  index: Index,
  attempt: Attempt,
  { isRecalled }: ResolvedQuery,
  shown: Shown,
  of: number,
): Counting {
  const { best } = attempt;
  if (isRecalled && best && !shown.isFiltered) {
    const numbers = best.map(({ document_no }) => document_no);
    return { ctes: {}, ...countKnown(many, index, numbers, of) };
  }
  return {
    ctes: countingCtes(index, attempt, shown, of),
    value: raw('(select to_json(c) from counts c)'),
    read: async (value) => value as CountsRow,
  };
}

/**
 * CTEs that count the candidates of an attempt, ending with `counts`. Reads the pages of the best candidates. The
 * others are only compared with the few pages that are hidden from the caller, because reading a thousand pages costs
 * more than the search. With filters, all pages are read.
 */
function countingCtes(
  index: Index,
  attempt: Attempt,
  { isFound, isFiltered, leftOut }: Shown,
  of: number,
): Record<string, Sql> {
  const { wiki_id } = index;
  const { best } = attempt;
  // A pending page has no number.
  const isNamed = ({ document_no }: Candidate, i: number) => i < of || document_no < 0;
  const areNamed = best !== undefined && !isFiltered;
  const others = areNamed ? best.filter((one, i) => !isNamed(one, i)) : [];
  return {
    counted: areNamed ? candidatesCte(index, best.filter(isNamed)) : attempt.candidates,
    found: sql`
      select p.page_id, p.created_by, p.status, p.tags, split_part(p.path, '/', 1) as folder
      from ${candidateDocuments(index, raw('counted'))}
      where ${isFound} limit ${MAX_COUNTED + 1}`,
    others: sql`
      select count(*)::int as count from unnest(${arrayText(others.map(({ document_no }) => document_no))}::int[]) o (no)
      where o.no not in (
        select d.document_no from (${leftOut}) d where ${others.length > 0} and d.document_no is not null)`,
    authors: sql`
      select f.created_by as user_id, count(*)::int as count from found f group by 1 order by 2 desc, 1 limit ${MAX_NAMED}`,
    folders: sql`
      select f.folder as path, count(*)::int as count from found f group by 1 order by 2 desc, 1 limit ${MAX_NAMED}`,
    // Same content as page_tags, without a lookup per page: most pages have no tags.
    tags: sql`
      select min(g.tag) as tag, count(distinct f.page_id)::int as count
      from found f cross join lateral unnest(f.tags) g (tag)
      group by folded(g.tag) order by 2 desc, folded(g.tag) limit ${MAX_NAMED}`,
    statuses: sql`select f.status, count(*)::int as count from found f group by 1 order by 2 desc, 1`,
    counts: sql`
      select (select count(*) from found)::int + (select o.count from others o) as total,
        coalesce((select json_agg(json_build_object('user_id', a.user_id, 'count', a.count, 'display_name', coalesce((
          select u.display_name from users u where u.user_id = a.user_id and ${hasPermission('members:read')}), '')))
          from authors a), '[]') as authors,
        coalesce((select json_agg(json_build_object('path', f.path, 'count', f.count, 'title', coalesce((
          select p.title from pages p where p.wiki_id = ${wiki_id} and p.path = f.path and ${IS_FOUND} limit 1), f.path)))
          from folders f), '[]') as folders,
        coalesce((select json_agg(g.*) from tags g), '[]') as tags,
        coalesce((select json_agg(s.*) from statuses s), '[]') as statuses`,
  };
}
