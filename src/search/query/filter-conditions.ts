import { raw, type Sql, sql } from '../../db/sql.ts';
import type { Filter, FilterField } from './filters.ts';

/** The condition of each filter on a document; a filter that a kind of document does not have finds nothing. */
export type FilterConditions = Partial<Record<FilterField, (filter: Filter) => Sql>>;

/** Of several filters of these fields one has to be met; of others all. */
const ANY_OF: ReadonlySet<FilterField> = new Set(['in', 'author', 'status', 'type']);

/** The condition of all filters, `and …`; empty without any. */
export function conditionsOf(filters: readonly Filter[], conditions: FilterConditions): Sql {
  const of = (filter: Filter) => conditions[filter.field]?.(filter) ?? raw('false');
  let all = raw('');
  const anyOf = new Map<FilterField, Sql>();
  for (const filter of filters) {
    const { field, isExcluded } = filter;
    const before = anyOf.get(field);
    if (isExcluded) all = sql`${all} and not coalesce((${of(filter)}), false)`;
    else if (!ANY_OF.has(field)) all = sql`${all} and (${of(filter)})`;
    else anyOf.set(field, before ? sql`${before} or ${of(filter)}` : of(filter));
  }
  for (const condition of anyOf.values()) all = sql`${all} and (${condition})`;
  return all;
}

/** Whether a time is in the range of a filter. */
export function isInTime(column: Sql, { from, before }: Filter): Sql {
  const since = from ? sql`${column} >= ${from.toISOString()}::timestamptz` : raw('true');
  return before ? sql`${since} and ${column} < ${before.toISOString()}::timestamptz` : since;
}
