import { sha256 } from '../core/secrets.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';

/** So many times in so many seconds. */
export interface Rate {
  quota: number;
  window_seconds: number;
}

interface Allowances {
  /** The allowance of a bucket (a policy and whom it counts); the same bucket has the same rate each time. */
  of(bucket: string, rate: Rate): RateLimitBucket;
}

/** What the database answers: how often all processes took, these times included, and how long the window lasts. */
interface Taken {
  used: number;
  ms: number;
}

type Ask = (bucket: string, times: number, window_seconds: number) => Promise<Taken>;

/**
 * What this process may still let through of one bucket. All processes count together in the database, from which each
 * takes a few times at once and serves them from memory: a first request takes a 64th of the quota, then as much again as was used so
 * far, never more than a quarter of what is left, at the end one by one. So no window lets more through than the
 * quota, a single process exactly that, and what others took and do not use is small.
 */
export class RateLimitBucket {
  readonly #bucket: string;
  readonly #rate: Rate;
  readonly #ask: Ask;
  /** Taken from the database and not used yet. */
  #left = 0;
  #used = 0;
  /** What was left in the database when it was asked last. */
  #elsewhere = 0;
  /** By the clock of performance.now(); a little before the window ends in the database. */
  #ends = 0;
  #window = 0;
  #waiting = 0;
  #asking: Promise<void> | undefined;

  constructor(bucket: string, rate: Rate, ask: Ask) {
    this.#bucket = bucket;
    this.#rate = rate;
    this.#ask = ask;
  }

  /** Takes one, or answers false where none is left in this window. Errors: those of the database. */
  take(): boolean | Promise<boolean> {
    if (this.#isRunning()) {
      if (this.#takeOne()) return true;
      if (this.#elsewhere <= 0) return false;
    }
    return this.#takeFromDatabase();
  }

  /** Puts one back that was taken in the window with this number. */
  giveBack(window: number): void {
    if (window !== this.#window || !this.#isRunning()) return;
    this.#left += 1;
    this.#used -= 1;
  }

  /** The number of the present window, for `giveBack`. */
  get window(): number {
    return this.#window;
  }

  /** How many are left in this window, as far as this process knows. */
  get remaining(): number {
    return this.#isRunning() ? this.#left + this.#elsewhere : this.#rate.quota;
  }

  /** Whole seconds until the window ends, at least 1. */
  get seconds(): number {
    const ms = this.#isRunning() ? this.#ends - performance.now() : this.#rate.window_seconds * 1000;
    return Math.max(1, Math.ceil(ms / 1000));
  }

  /** Whether anything would be lost with it. */
  get isIdle(): boolean {
    return !this.#isRunning() && this.isAtRest;
  }

  get isAtRest(): boolean {
    return this.#waiting === 0;
  }

  #isRunning(): boolean {
    return performance.now() < this.#ends;
  }

  #takeOne(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    this.#used += 1;
    return true;
  }

  async #takeFromDatabase(): Promise<boolean> {
    this.#waiting += 1;
    try {
      for (;;) {
        await (this.#asking ??= this.#refill().finally(() => {
          this.#asking = undefined;
        }));
        // What was granted just now counts, also where its window has ended on the way.
        if (this.#takeOne()) return true;
        if (this.#elsewhere <= 0) return false;
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  async #refill(): Promise<void> {
    const { quota, window_seconds } = this.#rate;
    if (!this.#isRunning()) {
      this.#window += 1;
      this.#left = this.#used = 0;
      this.#elsewhere = quota;
    }
    const grow = Math.min(Math.max(quota >> 6, this.#used), this.#elsewhere >> 2);
    const times = Math.min(quota, Math.max(1, this.#waiting, grow));
    const asked_at = performance.now();
    const { used, ms } = await this.#ask(this.#bucket, times, window_seconds);
    this.#left += Math.min(times, Math.max(0, quota - (used - times)));
    this.#elsewhere = Math.max(0, quota - used);
    this.#ends = asked_at + ms;
  }
}

/** Buckets that are kept in memory; behind that, those whose window has ended go, then all. */
const BUCKETS_MAX = 50_000;
const SWEEP_MS = 10_000;
const SWEEP_ROWS = 1_000;

export function openRateLimitBuckets(query: Query, onSweepFailed: (error: unknown) => void): Allowances {
  const allowances = new Map<string, RateLimitBucket>();
  let asked: {
    bucket: Buffer;
    times: number;
    window_seconds: number;
    resolve(taken: Taken): void;
    reject(error: unknown): void;
  }[] = [];
  let isAsking = false;
  let sweepAt = 0;

  const ask: Ask = (bucket, times, window_seconds) =>
    new Promise((resolve, reject) => {
      asked.push({ bucket: sha256(bucket), times, window_seconds, resolve, reject });
      if (!isAsking) void askForAll();
    });

  /** One statement at a time, for all that asked meanwhile: many callers with few requests each cost little more than one. */
  async function askForAll(): Promise<void> {
    isAsking = true;
    while (asked.length > 0) {
      const batch = asked;
      asked = [];
      try {
        const taken = await count(query, batch);
        for (const { bucket, resolve, reject } of batch) {
          const answer = taken.get(bucket.toString('latin1'));
          if (answer) resolve(answer);
          else reject(new Error('the database did not say how often something was done'));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isAsking = false;
    if (performance.now() >= sweepAt) await sweep();
  }

  async function sweep(): Promise<void> {
    sweepAt = performance.now() + SWEEP_MS;
    try {
      const rows = await query(sql`
        delete from limit_counts where bucket in (
          select bucket from limit_counts where ends_at < now() order by ends_at limit ${SWEEP_ROWS} for update skip locked)
        returning 1`);
      if (rows.length === SWEEP_ROWS) sweepAt = 0;
    } catch (error) {
      onSweepFailed(error);
    }
  }

  function makeRoom(): void {
    for (const [bucket, allowance] of allowances) if (allowance.isIdle) allowances.delete(bucket);
    if (allowances.size < BUCKETS_MAX / 2) return;
    // What they had taken is lost, so that less is let through and never more.
    for (const [bucket, allowance] of allowances) if (allowance.isAtRest) allowances.delete(bucket);
  }

  return {
    of(bucket, rate) {
      let allowance = allowances.get(bucket);
      if (allowance === undefined) {
        if (allowances.size >= BUCKETS_MAX) makeRoom();
        allowances.set(bucket, (allowance = new RateLimitBucket(bucket, rate, ask)));
      }
      return allowance;
    },
  };
}

/** In the order of buckets, so that two processes never wait for each other. A count goes on beyond its quota. */
async function count(
  query: Query,
  batch: readonly { bucket: Buffer; times: number; window_seconds: number }[],
): Promise<Map<string, Taken>> {
  const rows = await query<Taken & { bucket: Buffer }>(sql`
    insert into limit_counts as c (bucket, used, ends_at)
    select bucket, times, now() + make_interval(secs => window_seconds)
    from unnest(${batch.map(({ bucket }) => bucket)}::bytea[], ${batch.map(({ times }) => times)}::int[],
      ${batch.map(({ window_seconds }) => window_seconds)}::int[]) as asked (bucket, times, window_seconds)
    order by bucket
    on conflict (bucket) do update set
      used = case when c.ends_at > now() then c.used else 0 end + excluded.used,
      ends_at = case when c.ends_at > now() then least(c.ends_at, excluded.ends_at) else excluded.ends_at end
    returning bucket, used, (extract(epoch from ends_at - now()) * 1000)::float8 as ms`);
  return new Map(rows.map((row) => [row.bucket.toString('latin1'), row]));
}
