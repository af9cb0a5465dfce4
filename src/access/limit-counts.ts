import { sha256 } from '../core/secrets.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Rate } from './rate-limit-buckets.ts';

/**
 * The CTE that counts one event if `from` has a row: it returns `used` and `ends_at` of the window, or no row where its
 * quota is used up. `key`: the policy and the subject that it counts. Concurrent statements count exactly, and what is
 * rolled back does not count. For rare events that must be decided in the statement that writes them; requests are
 * counted by rate-limits.ts. CTEs that count several keys take their rows from each other, so that none counts what
 * another one refuses.
 */
export function countCte(key: string, { quota, windowSeconds }: Rate, from: Sql): Sql {
  return sql`
    insert into limit_counts as c (bucket, used, ends_at)
    select ${sha256(key)}::bytea, 1, now() + make_interval(secs => ${windowSeconds}::int) from (select from ${from} limit 1) one
    on conflict (bucket) do update set
      used = case when c.ends_at > now() then c.used else 0 end + 1,
      ends_at = case when c.ends_at > now() then c.ends_at else excluded.ends_at end
    where c.ends_at <= now() or c.used < ${quota}::int
    returning used, ends_at`;
}
