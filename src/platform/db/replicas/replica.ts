import { databaseTime } from '../../core/clock.ts';
import { ApiError } from '../../core/errors.ts';
import { type Budget, openReplicaDb, type Query, type Row } from '../db.ts';
import { type RequestContext, SERVICE, type WalPosition } from '../request-context.ts';
import type { ServiceDbOptions } from '../service-session.ts';
import { type Sql, sql } from '../sql.ts';
import type { ReplicaUsage } from './replica-usage.ts';

/** Interval between health checks. A replica that failed is used again only after a successful check. */
const LOOK_MS = 1_000;

/** Time limit of a statement on a replica; the rest of the request's time is left for the primary. */
const STATEMENT_MS = 3_000;

/** Maximum difference from the primary's clock, because each server decides by its own clock what has expired. */
const CLOCK_MAX_MS = 5_000;

/** SQLSTATEs of statements that the replica could not run, or had to end, although it is healthy. */
const STATEMENT_ERRORS = /^(22|23|40|25006|57014)/;

export interface Replica {
  usage(): Readonly<ReplicaUsage>;
  /** Reads rows as of `after` or later; calls `instead` if the replica cannot. */
  read<T>(
    statement: Sql,
    asked: { context: RequestContext; budget: Budget | undefined; after: WalPosition },
    instead: () => Promise<T[]>,
  ): Promise<T[]>;
  refuseWaiting(): void;
  close(): Promise<void>;
}

/** Called when a replica becomes usable (`reason` undefined) or unusable. */
export type OnReplicaChange = (server: string, reason: unknown) => void;

/** `position` asks the primary for its current position. */
export function openReplica(
  options: ServiceDbOptions & { server: string },
  position: () => Promise<WalPosition>,
  onChange: OnReplicaChange,
): Replica {
  const db = openReplicaDb(options);
  const usage: ReplicaUsage = {
    ...{ server: options.server, isUp: false, lag_seconds: 0, lag_bytes: 0, reads: 0, fallbacks: 0 },
  };
  let isKnown = false;

  function setUp(isUp: boolean, reason?: unknown): void {
    if (isKnown && usage.isUp === isUp) return;
    isKnown = true;
    usage.isUp = isUp;
    onChange(options.server, reason);
  }

  async function look(): Promise<void> {
    const after = await position().catch(() => undefined);
    try {
      // Without the primary, only check that the replica answers. An unresponsive replica, such as the former primary,
      // would otherwise be tried first once there is a new primary, and each read would wait for it.
      if (!after) return void (await db.in(SERVICE, withinReplica(undefined)).query(sql`select 1`));
      Object.assign(usage, await lagOf(db.in(SERVICE, withinReplica(undefined)).query, after));
      await db.in(SERVICE, withinReplica(undefined), after).query(sql`select 1`);
      setUp(true);
    } catch (error) {
      setUp(false, error);
    }
  }

  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const lookAgain = () =>
    void look().finally(() => {
      if (!isClosed) timer = setTimeout(lookAgain, LOOK_MS).unref();
    });
  lookAgain();

  return {
    usage: () => usage,
    async read<T>(
      statement: Sql,
      { context, budget, after }: { context: RequestContext; budget: Budget | undefined; after: WalPosition },
      instead: () => Promise<T[]>,
    ) {
      let rows: T[];
      try {
        rows = await db.in(context, withinReplica(budget), after).query<T>(statement);
      } catch (error) {
        usage.fallbacks += 1;
        if (!isOfStatement(error)) setUp(false, error);
        return instead();
      }
      usage.reads += 1;
      return rows;
    },
    refuseWaiting: db.refuseWaiting,
    close() {
      isClosed = true;
      clearTimeout(timer);
      return db.close();
    },
  };
}

/** Measures the replication lag. Throws if the replica's clock differs from the primary's. */
async function lagOf(query: Query, { lsn }: WalPosition): Promise<Pick<ReplicaUsage, 'lag_seconds' | 'lag_bytes'>> {
  const before = databaseTime();
  const [row] = await query<Row & { bytes: number; seconds: number; ms: number }>(sql`
    select greatest(0, b.bytes) as bytes, (extract(epoch from clock_timestamp()) * 1000)::float8 as ms,
      case when b.bytes > 0
        then coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float8 else 0 end as seconds
    from (select pg_wal_lsn_diff(${lsn}::pg_lsn,
      coalesce(pg_last_wal_replay_lsn(), ${lsn}::pg_lsn))::float8 as bytes) b`);
  const { bytes = 0, seconds = 0, ms = before } = row ?? {};
  if (ms < before - CLOCK_MAX_MS || ms > databaseTime() + CLOCK_MAX_MS) {
    throw new Error("the replica's clock is not the primary's: set both by NTP");
  }
  return { lag_bytes: bytes, lag_seconds: seconds };
}

const NEVER = new AbortController().signal;

function withinReplica(budget: Budget | undefined): Budget {
  return {
    left: () => Math.min(STATEMENT_MS, budget?.left() ?? STATEMENT_MS),
    abandoned: budget?.abandoned ?? (() => NEVER),
  };
}

/**
 * Returns whether the error says nothing about the replica: the request was too expensive, or its client has
 * disconnected.
 */
function isOfStatement(error: unknown): boolean {
  return error instanceof ApiError || STATEMENT_ERRORS.test(String((error as { code?: string }).code ?? ''));
}
