import type { Readable, Writable } from 'node:stream';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { QueueUsage, Turn } from '../core/queue/fair-queue.ts';
import { openKnownTenants } from './known-tenants.ts';
import type { PoolLane } from './lane-limits.ts';
import { CONNECTIONS, type DbOptions, inTransaction, onConnection, openPool, sendOne } from './pool.ts';
import { openPoolLanes } from './pool-lanes.ts';
import { type PreparedStatement, sendPrepared } from './prepared-query.ts';
import type { ReplicaUsage } from './replicas/replica-usage.ts';
import {
  type ContextOptions,
  prepareContext,
  type RequestContext,
  sendInContext,
  type WalPosition,
} from './request-context.ts';
import { openServicePool, SETTING_OPTIONS, type ServiceDbOptions } from './service-session.ts';
import { answeredWithin } from './silence.ts';
import type { Sql } from './sql.ts';
import { inStatementSpan } from './statement-span.ts';
import { openTopSpenders } from './top-spenders.ts';

export type Row = Record<string, unknown>;

/** Runs one statement and returns its rows. */
export type Query = <T = Row>(statement: Sql) => Promise<T[]>;

export interface Db {
  query: Query;
  /** Runs `work` between begin and commit on one connection; rolls back if it throws. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/**
 * The database in one request context. `query` is for reads and for writes to rows that tenants do not contend for; it
 * queues for a connection in the lane for reads. `write` and `transaction` queue in the lane for writes, and all
 * statements of a job in the lane for jobs.
 */
export interface ContextDb extends Db {
  /** Like `query`, for reads only. A replica may run it if it has replayed everything committed before. */
  read: Query;
  write: Query;
  /** Like `transaction`, but read-only: every statement sees the same snapshot. */
  snapshot<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** Runs SQL text without values and returns the number of changed rows. Several statements run as one transaction. */
export type RunScript = (text: string) => Promise<number>;

/** `copy … to stdout` and `copy … from stdin` as streams. A statement must end before the next one is sent. */
export interface Copy {
  /** `rowCount` is set at the end of the stream. */
  out(text: string): Readable & { rowCount: number };
  into(text: string): Writable;
}

/** The database as seen by its owner: for migrations, operator commands and tests. */
export interface OwnerDb extends Db {
  transaction<T>(work: (query: Query, runScript: RunScript) => Promise<T>): Promise<T>;
  /**
   * Runs `work` on one connection, outside a transaction and without time limits. Closes the connection at the end,
   * together with its settings and locks.
   */
  session<T>(work: (query: Query, runScript: RunScript, copy: Copy) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The time limit of a request. */
export interface Budget {
  /** Milliseconds, negative if the limit is exceeded; undefined without a limit. */
  left(): number | undefined;
  /** Returns a signal that is aborted when the limit is exceeded or the client disconnects. */
  abandoned(): AbortSignal;
}

/** The database as seen by the service: only rows that a request context makes visible. */
export interface ServiceDb {
  /**
   * Returns the database in a request context. With `budget`, waiting for a connection and running a statement end with
   * the request.
   */
  in(context: RequestContext, budget?: Budget): ContextDb;
  /** Usage of each replica; empty without replicas. */
  replicas(): readonly Readonly<ReplicaUsage>[];
  /** Returns the tenant of a request; undefined if this process does not know it. Only affects scheduling. */
  tenantOf(context: RequestContext): string | undefined;
  /** Connection usage per lane, and the workspaces that recently held connections the longest. */
  usage(): { lanes: Record<PoolLane, Readonly<QueueUsage>>; workspaces: [workspace_id: string, seconds: number][] };
  /**
   * From now on refuses requests that would have to wait for a connection (503), because the service is about to stop.
   */
  refuseWaiting(): void;
  close(): Promise<void>;
}

const NO_TIME_LIMITS = 'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0';

export function openDb(options: DbOptions): OwnerDb {
  const { connections, prepare, close } = openPool(options, { options: SETTING_OPTIONS });
  const queryOf = (client: pg.PoolClient): Query => {
    return async <T>(statement: Sql) => (await client.query(prepare(statement))).rows as T[];
  };
  const scriptRunnerOf = (client: pg.PoolClient): RunScript => {
    return async (text) => {
      options.observe?.(text, []);
      // The driver returns an array for several statements.
      return [await client.query(text)].flat().reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
    };
  };
  return {
    query: async <T>(statement: Sql) =>
      (await sendOne(connections, (client) => client.query(prepare(statement)))).rows as T[],
    transaction: (work) =>
      inTransaction(connections, options, (client) => work(queryOf(client), scriptRunnerOf(client))),
    session: (work) =>
      onConnection(connections, async (client, discard) => {
        discard(new Error('the session has ended'));
        await client.query(NO_TIME_LIMITS);
        const copy: Copy = { out: (text) => client.query(copyTo(text)), into: (text) => client.query(copyFrom(text)) };
        return work(queryOf(client), scriptRunnerOf(client), copy);
      }),
    close,
  };
}

/** Time limit of a statement: for a read, and for a write or a statement of a job. */
const READ_MS = 10_000;
const WRITE_MS = 30_000;

/** Limits a statement to the remaining time of its request; at least 1 ms, because 0 means no limit. */
function timeoutWithin(ms: number, budget: Budget | undefined): number {
  return Math.max(1, Math.ceil(Math.min(ms, budget?.left() ?? ms)));
}

const WORKSPACES_SHOWN = 20;

/** Opens the database as SERVICE_ROLE; every statement runs in a request context. */
export function openServiceDb(options: ServiceDbOptions): ServiceDb {
  return openServer(options, false);
}

/** A replica, opened like the primary by `openServiceDb`. */
export interface ReplicaDb extends Pick<ServiceDb, 'refuseWaiting' | 'close'> {
  /** With `after`, a statement sees everything up to that position, or fails with IBLAG. */
  in(context: RequestContext, budget?: Budget, after?: WalPosition): Pick<ContextDb, 'query'>;
}

export function openReplicaDb(options: ServiceDbOptions): ReplicaDb {
  return openServer(options, true);
}

function openServer(options: ServiceDbOptions, isReplica: boolean): ServiceDb & ReplicaDb {
  const { connections, prepare, close } = openServicePool(options, (client) => client.query(prepareContext(isReplica)));
  const lanes = openPoolLanes(options.connections ?? CONNECTIONS);
  const tenants = openKnownTenants();
  const spenders = openTopSpenders();

  function leave(turn: Turn): void {
    lanes.leave(turn);
    if (turn.tenant.startsWith('org_')) spenders.add(turn.tenant, (performance.now() - turn.since) / 1_000);
  }

  /** Runs `work` once its lane has a connection for it. */
  async function inLane<T>(
    lane: PoolLane,
    context: RequestContext,
    budget: Budget | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const entered = lanes.enter(context.who === 'job' ? 'jobs' : lane, tenants.of(context), budget?.abandoned);
    const turn = entered instanceof Promise ? await entered : entered;
    try {
      return await work();
    } finally {
      leave(turn);
    }
  }

  function inContext(context: RequestContext, budget?: Budget, after?: WalPosition): ContextDb {
    const onTenant = (tenant: string) => tenants.learn(context, tenant);
    const replica = isReplica ? { after } : undefined;
    const within = (ms: number): ContextOptions => ({ timeoutMs: timeoutWithin(ms, budget), onTenant, replica });
    const sendEntering = (client: pg.PoolClient, config: PreparedStatement, ms: number) =>
      inStatementSpan(config, () => sendInContext(client, context, config, within(ms)));
    const send = async <T>(lane: PoolLane, statement: Sql, ms: number) =>
      (await inLane(lane, context, budget, () =>
        sendOne(connections, (client) => sendEntering(client, prepare(statement), ms)),
      )) as T[];
    const transaction = <T>(begin: string, work: (query: Query) => Promise<T>) =>
      inLane('writes', context, budget, () =>
        inTransaction(
          connections,
          options,
          (client) => {
            let entered = false;
            return work(async <R>(statement: Sql) => {
              const config = prepare(statement);
              if (entered) {
                const send = () => answeredWithin(client, WRITE_MS, () => sendPrepared(client, config));
                return (await inStatementSpan(config, send)) as R[];
              }
              entered = true;
              return (await sendEntering(client, config, WRITE_MS)) as R[];
            });
          },
          begin,
          WRITE_MS,
        ),
      );
    const query: Query = (statement) => send('reads', statement, context.who === 'job' ? WRITE_MS : READ_MS);
    return {
      query,
      read: query,
      write: (statement) => send('writes', statement, WRITE_MS),
      transaction: (work) => transaction('begin', work),
      snapshot: (work) => transaction('begin isolation level repeatable read read only', work),
    };
  }

  return {
    in: inContext,
    replicas: () => [],
    tenantOf: tenants.find,
    usage: () => ({
      lanes: { reads: lanes.usage('reads'), writes: lanes.usage('writes'), jobs: lanes.usage('jobs') },
      workspaces: spenders.top(WORKSPACES_SHOWN),
    }),
    refuseWaiting: lanes.refuseWaiting,
    close,
  };
}
