import type { PoolConfig } from 'pg';
import { type OwnerDb, openDb, type Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { isStorable } from '../../platform/http/body.ts';
import { listFailedJobs } from '../../platform/jobs/background-queue.ts';
import { countJobs } from '../../platform/jobs/count-jobs.ts';
import type { Config } from '../config.ts';
import { checkDisks } from './checks/disk-check.ts';
import type { Check, DatabaseSubject } from './checks/finding.ts';
import { checkClock, checkPostgres } from './checks/postgres-checks.ts';
import { runChecks } from './checks/run-checks.ts';
import { checkIndexes, checkSchema } from './checks/schema-checks.ts';
import { checkWal } from './checks/wal-check.ts';
import { checkBackups, checkJobs } from './checks/work-checks.ts';
import { retryFailedJob, withoutQuotations } from './failed-jobs.ts';
import type { OperatorConsole, ServiceOverview } from './schema.ts';
import { changeLimits, changeShare, listLargest, pauseJobs, signOutMembers, usageOf } from './workspace-controls.ts';

/** The checks of `ibid doctor` that connect to no other server and take less than a second of database time. */
const CHECKS: Record<string, Check<DatabaseSubject>> = {
  disk: checkDisks,
  clock: checkClock,
  postgres: checkPostgres,
  schema: checkSchema,
  indexes: checkIndexes,
  jobs: checkJobs,
  backups: checkBackups,
  wal: checkWal,
};
const CHECK_MS = 3_000;

const LARGEST = 50;
const FAILED_SHOWN = 100;
/** No id or slug contains such text, and PostgreSQL refuses to compare it. */
const isNoName = (text: string) => !isStorable(text);

/** Connections of one request, so that its checks run concurrently. */
const CONNECTIONS = 3;

interface ConsoleNeeds {
  config: Config;
  /** Connects as the owner of the tables. */
  connection: PoolConfig;
  /** Set for the service's own PostgreSQL; undefined if DATABASE_URL names another server. */
  own: PoolConfig | undefined;
  version: string;
  /** Workspaces by recent database time; time decays with a half-life of five minutes. */
  spenders(): [workspace_id: string, seconds: number][];
}

/**
 * Opens the API of the operator's page. It shares its functions with the commands, and like them connects as the owner
 * of the tables, once per request. Requests are serialized. The caller must have checked `isOperator`.
 */
export function openOperatorConsole(needs: ConsoleNeeds): OperatorConsole {
  const operators = new Set(needs.config.OPERATORS);
  let turn: Promise<unknown> = Promise.resolve();
  let reading: Promise<ServiceOverview> | undefined;
  // Serialize requests: the owner's connections count against PostgreSQL's connection limit.
  const asOwner = <T>(work: (db: OwnerDb) => Promise<T>): Promise<T> => {
    const done = turn.then(() => onConnection(work));
    turn = done.catch(() => undefined);
    return done;
  };
  const onConnection = async <T>(work: (db: OwnerDb) => Promise<T>): Promise<T> => {
    const db = openDb({
      connection: needs.connection,
      connections: CONNECTIONS,
      // The statement on that connection fails anyway.
      onConnectionLost: () => undefined,
    });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };
  return {
    isOperator: ({ email, email_verified }) => email_verified && operators.has(email),
    // Concurrent requests share one read.
    overview: () =>
      (reading ??= asOwner((db) => readOverview(db, needs)).finally(() => {
        reading = undefined;
      })),
    workspaces: async (named) =>
      isNoName(named ?? '') ? [] : asOwner(({ query }) => listLargest(query, LARGEST, named ?? null)),
    workspace: (workspace_id) =>
      asOwner(async ({ query }) => {
        if (isNoName(workspace_id)) return undefined;
        const [workspace] = await listLargest(query, 1, workspace_id);
        return workspace?.workspace_id === workspace_id
          ? { workspace, usage: await usageOf(query, workspace_id) }
          : undefined;
      }),
    retryJob: async (by, job_id) =>
      isNoName(job_id) ? undefined : (await asOwner((db) => retryFailedJob(db, by, job_id)))?.result,
    changeLimits: (by, workspace_id, changes) => asOwner((db) => changeLimits(db, by, workspace_id, changes)),
    pauseJobs: (by, workspace_id, are_paused) => asOwner((db) => pauseJobs(db, by, workspace_id, are_paused)),
    changeShare: (by, workspace_id, share) => asOwner((db) => changeShare(db, by, workspace_id, share)),
    signOutMembers: (by, workspace_id, keys) => asOwner((db) => signOutMembers(db, by, workspace_id, keys)),
  };
}

async function readOverview(db: OwnerDb, needs: ConsoleNeeds): Promise<ServiceOverview> {
  const { config, own, version } = needs;
  const { query } = db;
  const [findings, versions, jobs, failed_jobs, backup, spenders] = await Promise.all([
    runChecks(CHECKS, { config, files: [], db, own }, CHECK_MS),
    readVersions(query, version),
    readQueue(query),
    shownFailedJobs(query),
    readBackup(query),
    nameSpenders(query, needs.spenders()),
  ]);
  return { findings, versions, jobs, failed_jobs, backup, spenders };
}

async function readVersions(query: Query, ibid: string): Promise<ServiceOverview['versions']> {
  const [row] = await query<{ postgresql: string; schema: string }>(sql`
    select current_setting('server_version') as postgresql, (select max(name) from migrations) as schema`);
  return { ibid, node: process.version, postgresql: row?.postgresql ?? '', schema: row?.schema ?? '' };
}

async function readQueue(query: Query): Promise<ServiceOverview['jobs']> {
  const counts = await countJobs(query);
  const names = [...new Set(counts.map(({ name }) => name))].sort();
  return names.map((name) => {
    const of = (status: string) => counts.find((it) => it.name === name && it.status === status);
    const overdue_seconds = Math.max(0, of('queued')?.overdue_seconds ?? 0);
    const count = (status: string) => of(status)?.count ?? 0;
    return { name, queued: count('queued'), running: count('running'), failed: count('failed'), overdue_seconds };
  });
}

async function shownFailedJobs(query: Query): Promise<ServiceOverview['failed_jobs']> {
  const jobs = await listFailedJobs(query, FAILED_SHOWN);
  return jobs.map(({ job_id, name, workspace_id, failed_at, error }) => ({
    ...{ job_id, name, workspace_id, failed_at },
    error: withoutQuotations(error),
  }));
}

async function readBackup(query: Query): Promise<ServiceOverview['backup']> {
  const [row] = await query<NonNullable<ServiceOverview['backup']>>(sql`
    select last_outcome as outcome, last_ended_at as ended_at, coalesce(last_backup_id, '') as backup_id,
      coalesce(to_json(last_made_at)#>>'{}', '') as made_at
    from backup_status`);
  return row;
}

async function nameSpenders(
  query: Query,
  spenders: [workspace_id: string, seconds: number][],
): Promise<ServiceOverview['spenders']> {
  const ids = spenders.map(([workspace_id]) => workspace_id);
  const rows = await query<{ workspace_id: string; slug: string }>(sql`
    select workspace_id, slug from workspaces where workspace_id = any (${ids}::text[])`);
  const slugs = new Map(rows.map(({ workspace_id, slug }) => [workspace_id, slug]));
  return spenders.map(([workspace_id, seconds]) => ({ workspace_id, slug: slugs.get(workspace_id) ?? '', seconds }));
}
