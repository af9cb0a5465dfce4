import { type Sql, sql } from '../../../platform/db/sql.ts';
import type { Index } from './pending.ts';

/**
 * Selects `state`, a text that changes whenever a search would read different data from the index, or data of other
 * documents because the caller sees others; null while documents with terms are pending. Segments are immutable and
 * their dead documents are only ever added, so ids and counts
 * identify them.
 */
export function indexStateCte({ wiki_id, kind }: Index, view: Sql): Sql {
  return sql`
    select case when not exists (
      select from search_pending p where p.wiki_id = ${wiki_id} and p.kind = ${kind} and p.title_terms is not null) then
      concat((select i.next_no || ' ' || i.documents from search_wikis i where i.wiki_id = ${wiki_id} and i.kind = ${kind}),
        (select string_agg(' ' || s.segment_id || ':' || s.dead_count, '' order by s.segment_id)
          from search_segments s where s.wiki_id = ${wiki_id} and s.kind = ${kind}), ' ' || nullif(${view}, '')) end as state`;
}

/** Returns the state of an index from the segments and counts that were read; undefined while documents are pending. */
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
