import { sha256 } from '../../core/secrets.ts';
import type { Query } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';

export interface Rate {
  quota: number;
  windowSeconds: number;
}

interface RateLimitBuckets {
  /** Returns the bucket of this key (a policy and a subject). A key must always be used with the same rate. */
  of(key: string, rate: Rate): RateLimitBucket;
}

/** The database's answer: the count of all processes including this request, and the remaining time of the window. */
interface BucketCount {
  used: number;
  ms: number;
}

type Reserve = (bucket: string, times: number, window_seconds: number) => Promise<BucketCount>;

/**
 * One process's share of a rate limit. All processes count together in the database. Each reserves several requests at
 * once and serves them from memory: first 1/64 of the quota, then as many as it has used so far, never more than a
 * quarter of the rest, and single requests near the end. So no window exceeds the quota, a single process reaches it
 * exactly, and few reserved requests stay unused.
 */
export class RateLimitBucket {
  readonly #bucket: string;
  readonly #rate: Rate;
  readonly #reserve: Reserve;
  /** Reserved requests that are left; taking one moves it to `#used`. */
  #reserved = 0;
  /** Requests used by this process in this window. */
  #used = 0;
  /** Requests left in the database at the last reservation. */
  #unreserved = 0;
  /** On the clock of performance.now(); slightly before the window ends in the database. */
  #ends = 0;
  #window = 0;
  #waiting = 0;
  #refilling: Promise<void> | undefined;

  constructor(bucket: string, rate: Rate, reserve: Reserve) {
    this.#bucket = bucket;
    this.#rate = rate;
    this.#reserve = reserve;
  }

  /** Takes one request; returns false if none is left in this window. Rethrows errors of the database. */
  take(): boolean | Promise<boolean> {
    if (this.#isRunning()) {
      if (this.#takeOne()) return true;
      if (this.#unreserved <= 0) return false;
    }
    return this.#takeFromDatabase();
  }

  /** Returns a request taken in the window with this number. */
  giveBack(window: number): void {
    if (window !== this.#window || !this.#isRunning()) return;
    this.#reserved += 1;
    this.#used -= 1;
  }

  /** Number of the current window, for `giveBack`. */
  get window(): number {
    return this.#window;
  }

  /** Requests left in this window, as far as this process knows. */
  get remaining(): number {
    return this.#isRunning() ? this.#reserved + this.#unreserved : this.#rate.quota;
  }

  /** Whole seconds until the window ends, at least 1. */
  get seconds(): number {
    const ms = this.#isRunning() ? this.#ends - performance.now() : this.#rate.windowSeconds * 1000;
    return Math.max(1, Math.ceil(ms / 1000));
  }

  /** Whether the bucket can be dropped from memory without losing a count. */
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
    if (this.#reserved === 0) return false;
    this.#reserved -= 1;
    this.#used += 1;
    return true;
  }

  async #takeFromDatabase(): Promise<boolean> {
    this.#waiting += 1;
    try {
      for (;;) {
        await (this.#refilling ??= this.#refill().finally(() => {
          this.#refilling = undefined;
        }));
        // A reservation that was just granted counts even if its window has ended in the meantime.
        if (this.#takeOne()) return true;
        if (this.#unreserved <= 0) return false;
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  async #refill(): Promise<void> {
    const { quota, windowSeconds } = this.#rate;
    if (!this.#isRunning()) {
      this.#window += 1;
      this.#reserved = this.#used = 0;
      this.#unreserved = quota;
    }
    const grow = Math.min(Math.max(quota >> 6, this.#used), this.#unreserved >> 2);
    const times = Math.min(quota, Math.max(1, this.#waiting, grow));
    const reserve = performance.now();
    const { used, ms } = await this.#reserve(this.#bucket, times, windowSeconds);
    this.#reserved += Math.min(times, Math.max(0, quota - (used - times)));
    this.#unreserved = Math.max(0, quota - used);
    this.#ends = reserve + ms;
  }
}

/**
 * At this number of buckets in memory, buckets whose window has ended are dropped; if at least half of them are left,
 * all others too. Buckets with a waiting request stay.
 */
const BUCKETS_MAX = 50_000;
const PRUNE_BATCH_SIZE = 1_000;

export function openRateLimitBuckets(query: Query): RateLimitBuckets {
  const buckets = new Map<string, RateLimitBucket>();
  let waiting: {
    bucket: Buffer;
    times: number;
    window_seconds: number;
    resolve(taken: BucketCount): void;
    reject(error: unknown): void;
  }[] = [];
  let isReserving = false;

  const reserve: Reserve = (bucket, times, window_seconds) =>
    new Promise((resolve, reject) => {
      waiting.push({ bucket: sha256(bucket), times, window_seconds, resolve, reject });
      if (!isReserving) void reserveAll();
    });

  /** Sends one statement at a time for all waiting buckets, which keeps many callers with few requests cheap. */
  async function reserveAll(): Promise<void> {
    isReserving = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const counts = await count(query, batch);
        for (const { bucket, resolve, reject } of batch) {
          const answer = counts.get(bucket.toString('latin1'));
          if (answer) resolve(answer);
          else reject(new Error('the database returned no count for a rate limit'));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isReserving = false;
  }

  function makeRoom(): void {
    for (const [key, bucket] of buckets) if (bucket.isIdle) buckets.delete(key);
    if (buckets.size < BUCKETS_MAX / 2) return;
    // Unused reservations are lost, so fewer requests are allowed, never more.
    for (const [key, bucket] of buckets) if (bucket.isAtRest) buckets.delete(key);
  }

  return {
    of(key, rate) {
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        if (buckets.size >= BUCKETS_MAX) makeRoom();
        buckets.set(key, (bucket = new RateLimitBucket(key, rate, reserve)));
      }
      return bucket;
    },
  };
}

/** Deletes counts whose window has ended, one batch per statement. No request waits for it. */
export async function pruneRateLimitCounts(query: Query): Promise<void> {
  for (;;) {
    const batch = await query(sql`
      delete from limit_counts where bucket in (
        select bucket from limit_counts where ends_at < now()
        order by ends_at limit ${PRUNE_BATCH_SIZE}::int for update skip locked)
      returning 1`);
    if (batch.length < PRUNE_BATCH_SIZE) return;
  }
}

/** Locks buckets in key order, so that two processes cannot deadlock. A count may exceed its quota. */
async function count(
  query: Query,
  batch: readonly { bucket: Buffer; times: number; window_seconds: number }[],
): Promise<Map<string, BucketCount>> {
  const rows = await query<BucketCount & { bucket: Buffer }>(sql`
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
