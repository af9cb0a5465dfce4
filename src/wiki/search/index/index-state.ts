import { type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from './pending.ts';

/**
 * One row with `state`: a text that is another one as soon as a search would read anything else of the index. Segments never
 * change, and their dead documents only become more.
 */
export function indexStateCte({ wiki_id, kind }: Index): Sql {
  return sql`
    select case when not exists (
      select from search_pending p where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.title_terms is not null) then
      concat((select i.next_no || ' ' || i.documents from search_wikis i where i.wiki_id = ${wiki_id} and i.kind = ${kind}),
        (select string_agg(' ' || s.segment_id || ':' || s.dead_count, '' order by s.segment_id)
          from search_segments s where s.wiki_id = ${wiki_id} and s.kind = ${kind})) end as state`;
}

/** The state of an index whose segments and counts were read; undefined while documents wait to be merged. */
export function stateOf(
  segments: readonly { segment_id: string | null; documents: number | null }[],
  index: { next_no: number | null; documents_in_index: number | null } | undefined,
  isWaiting: boolean,
): string | undefined {
  if (isWaiting) return undefined;
  const sorted = [...segments].sort((one, other) => Number(one.segment_id) - Number(other.segment_id));
  const counts = index ? `${index.next_no} ${index.documents_in_index}` : '';
  return counts + sorted.map(({ segment_id, documents }) => ` ${segment_id}:${documents}`).join('');
}
