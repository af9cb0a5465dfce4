import { StartError } from '@ibid/postgres-server/start-error.ts';
import { clockSkewMs, setClockSkewMs } from '../core/clock.ts';
import type { Query } from './db.ts';
import { sql } from './sql.ts';

/**
 * Maximum difference between the clocks. Beyond it, file servers refuse signatures as too old, and certificates look
 * expired.
 */
export const SKEW_MAX_MS = 15 * 60_000;

/** Interval between measurements. Smaller changes than CHANGE_MS are measurement errors. */
const INTERVAL_MS = 60_000;
const CHANGE_MS = 1_000;

/** Number of samples. The first statement of a connection takes longest, so its sample is the least precise. */
const SAMPLES = 3;

/**
 * Returns how many milliseconds this process's clock is ahead of the database's clock; 0 if the round trips could
 * explain the whole difference.
 */
export async function measureSkewMs(query: Query): Promise<number> {
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  for (let i = 0; i < SAMPLES; i += 1) {
    const before = Date.now();
    const [row] = await query<{ ms: number }>(sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`);
    const ms = row?.ms ?? before;
    least = Math.max(least, before - ms);
    most = Math.min(most, Date.now() - ms);
  }
  return least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2);
}

/**
 * Measures the clock skew of this process, now and every minute, so that `databaseTime` and new ids follow the
 * database's clock. Calls `onFailure` if a later measurement fails or exceeds the limit. Returns a function that stops
 * the measurements. Throws StartError if the clocks differ by more than SKEW_MAX_MS.
 */
export async function followDatabaseClock(query: Query, onFailure: (reason: unknown) => void): Promise<() => void> {
  const measure = async () => {
    const skew = await measureSkewMs(query);
    if (Math.abs(skew - clockSkewMs()) >= CHANGE_MS) setClockSkewMs(skew);
    if (Math.abs(skew) > SKEW_MAX_MS) throw tooFar(skew);
  };
  await measure();
  const timer = setInterval(() => void measure().catch(onFailure), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

function tooFar(skew: number): StartError {
  const minutes = Math.round(Math.abs(skew) / 60_000);
  return new StartError(
    `The clock of this machine is ${minutes} minutes ${skew > 0 ? 'ahead of' : 'behind'} the database's: synchronize both clocks by NTP.`,
  );
}
