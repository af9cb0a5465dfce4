import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import type { Filter, FilterField } from './filters.ts';

/**
 * SQL conditions by field: whether a document matches any of the given values. A field that documents of this kind lack
 * never matches.
 */
export type FilterConditions = Partial<Record<Exclude<FilterField, 'created' | 'updated'>, (values: string[]) => Sql>>;

const LISTED = ['in', 'path', 'author', 'tag', 'status', 'type'] as const;
const TIMES = ['created', 'updated'] as const;

/**
 * Returns the condition of all filters on a document `d` as `and …`, empty if there are no filters. The text of the SQL
 * does not depend on the filters, so that prepared statements are reused.
 */
export function conditionsOf(filters: readonly Filter[], d: 'p' | 's', conditions: FilterConditions): Sql {
  if (filters.length === 0) return raw('');
  const those = (field: FilterField, isExcluded: boolean) =>
    filters.filter((filter) => filter.field === field && filter.isExcluded === isExcluded);
  let all = raw('');
  for (const field of LISTED) {
    const isMet = conditions[field] ?? (() => raw('false'));
    const [wanted, unwanted] = [false, true].map((isExcluded) =>
      those(field, isExcluded).map(({ value }) => value),
    ) as [string[], string[]];
    all = sql`${all} and (${wanted.length === 0} or ${isMet(wanted)}) and not coalesce(${isMet(unwanted)}, false)`;
  }
  for (const field of TIMES) {
    const time = raw(`${d}.${field}_at`);
    const [wanted, unwanted] = [those(field, false), those(field, true)];
    const from = wanted.reduce(
      (latest, filter) => (filter.from && filter.from > latest ? filter.from : latest),
      new Date(0),
    );
    const before = wanted.reduce(
      (first, filter) => (filter.before && filter.before < first ? filter.before : first),
      new Date(Date.UTC(10_000, 0)),
    );
    all = sql`${all} and ${time} >= ${from.toISOString()}::timestamptz and ${time} < ${endOfTime(before)}::timestamptz
      and not exists (
        select from unnest(${unwanted.map((filter) => filter.from?.toISOString() ?? '-infinity')}::timestamptz[],
          ${unwanted.map((filter) => endOfTime(filter.before))}::timestamptz[]) t (since, until)
        where ${time} >= t.since and ${time} < t.until)`;
  }
  return all;
}

/** PostgreSQL does not parse years of more than four digits as JavaScript writes them. */
function endOfTime(before: Date | undefined): string {
  return before === undefined || before.getUTCFullYear() > 9_999 ? 'infinity' : before.toISOString();
}
