import { rateLimited } from '../../core/errors.ts';
import { sha256 } from '../../core/secrets.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import type { Statements } from '../guard.ts';
import type { Rate } from './rate-limit-buckets.ts';

/**
 * Returns the CTE that counts one event if `from` has a row. It returns `used` and `ends_at` of the window, or no row
 * if the quota is used up. `key` names the policy and the counted subject. Concurrent statements count exactly, and a
 * rollback undoes the count. Meant for rare events that must be decided in the statement that writes them;
 * rate-limits.ts counts requests. CTEs that count several keys take their rows from each other, so that no key counts
 * an event that another key refuses.
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

/**
 * Counts an event in the transaction that writes it; a rollback undoes the count. `what` names the events in the
 * message. Throws 429 `rate_limited`, after which the transaction must be rolled back.
 */
export async function countOrRefuse(tx: Statements, key: string, rate: Rate, what: string): Promise<void> {
  const row = await tx.maybeOne<{ counted: boolean; seconds: number | null }>({
    counted: countCte(key, rate, raw('access')),
    result: sql`
      select exists (select from counted) as counted, (
        select ceil(extract(epoch from ends_at - now()))::int from limit_counts where bucket = ${sha256(key)}) as seconds`,
  });
  if (!row?.counted) throw rateLimited(Math.max(1, row?.seconds ?? 1), what);
}
