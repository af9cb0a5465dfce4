import { StartError } from '@ibid/postgres-server/start-error.ts';
import { clockSkewMs, setClockSkewMs } from '../core/clock.ts';
import type { Query } from './db.ts';
import { sql } from './sql.ts';

/** A greater difference is refused: servers of files refuse signatures that are this old, and certificates look expired. */
export const SKEW_MAX_MS = 15 * 60_000;

/** How often the skew is measured again. A change that is smaller than this is the measurement's. */
const INTERVAL_MS = 60_000;
const CHANGE_MS = 1_000;

/** The first statement of a connection takes longest, and so says least. */
const SAMPLES = 3;

/**
 * By how many milliseconds the clock of this process is ahead of the database's; 0 where the time that the answers took may be
 * the whole difference.
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
 * Measures the skew of this process, now and then every minute, so that `databaseTime` and new ids follow the database's clock.
 * `onFailure` is told why it could not be measured or is too great meanwhile. Returns how to stop. Errors: StartError where
 * the clocks differ by more than SKEW_MAX_MS.
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
    `The clock of this machine is ${minutes} minutes ${skew > 0 ? 'ahead of' : 'behind'} the database's: set the clocks of both by NTP.`,
  );
}
