import type { Logger } from 'pino';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Enqueueable } from '../access/guard.ts';
import type { Signatures } from '../access/signatures.ts';
import type { BackupSchedule } from '../core/backup-plan.ts';
import type { ContextDb, Query } from '../db/db.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { Limits } from '../http/services.ts';
import type { Mail } from '../providers/mail/mail.ts';
import type { Payments, Plan } from '../providers/payments/payments.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import type { DocumentReader } from '../sandbox/document-reader.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Job } from './schema.ts';

/**
 * The lanes of a process and their numbers of slots; jobs wait only for jobs of the same lane. `uploads` has fewer
 * slots if the process has few database connections.
 */
export const LANES = {
  /** Uploads, exports and imports. */
  uploads: 4,
  /** The search index. */
  index: 2,
  /** Messages to a mail server, which may be slow. */
  mail: 4,
  /** Requests to the payment provider. Jobs mostly wait here, and a slow one delays only its own workspace. */
  billing: 8,
  /** Removal of old data. */
  maintenance: 1,
  /** Backups, which may take hours. */
  backups: 1,
} as const;
export type Lane = keyof typeof LANES;

/** Dependencies of jobs other than the database. */
export interface JobServices {
  blobs: Blobs;
  mail: Mail;
  payments: Payments;
  plans: readonly Plan[];
  /** Compiles files outside the request path, at lower CPU priority than page reads. */
  sandbox: Sandbox;
  /** Reads PDF, Word, EPUB and ZIP files in confined processes. */
  reader: DocumentReader;
  /** Signatures that every process with the same database can verify. */
  signatures: Signatures;
  /** The service's public URL, without a trailing slash. */
  publicUrl: string;
  limits: Limits;
  /** Undefined unless BACKUP_SCHEDULE is set. */
  backups: Backups | undefined;
  log: Logger;
}

/** When and how backups are made. */
export interface Backups {
  schedule: BackupSchedule;
  /** Whether WAL is archived for recovery to any point in time, which needs a base backup after each gap. */
  hasWal: boolean;
  /**
   * Runs `ibid backup` in a process until it ends or `signal` is aborted. Returns the exit code and the end of its
   * output.
   */
  make(signal: AbortSignal): Promise<{ code: number | null; output: string }>;
}

/** Returns the services for jobs of a workspace; '' for jobs without a workspace. */
export type ServicesOf = (workspace_id: string) => JobServices;

/** The tenant of a job, which decides which rows the job can see. */
type Tenant = {
  wiki: { wiki_id: string };
  workspace: { workspace_id: string };
  user: { user_id: string };
  service: object;
};
export type JobFor = keyof Tenant;

interface JobContext<For extends JobFor, Input> {
  /** Sees the rows of the wiki or workspace; for users and the service, the rows of the service context. */
  db: ContextDb;
  /** The IDs of the tenant. */
  target: Tenant[For];
  input: Input;
  services: JobServices;
  /** Aborted on an orderly stop and at the timeout; the next attempt does the rest. */
  signal: AbortSignal;
}

interface JobDefinition<For extends JobFor, Input extends TObject<TProperties>> {
  /** Verb and object in kebab case. Stored with each job, so it must never change. */
  name: string;
  for: For;
  lane: Lane;
  /**
   * At most one job per name and key is queued, and at most one runs. `tenant`: the key is the ID of the wiki,
   * workspace or user.
   */
  key?: 'tenant' | ((input: Static<Input>) => string);
  /**
   * Number of failures before the job is given up. `forever`: retried as long as its rows exist, with pauses of up to
   * an hour, unless its process ends three times in a row.
   */
  attempts: number | 'forever';
  /** After this time the signal of the attempt is aborted, and the attempt counts as failed. */
  timeoutSeconds: number;
  input?: Input;
  /**
   * The interval in seconds of a scheduled job. Each time, a job is enqueued for each tenant that `due` returns
   * (wiki_id, workspace_id), or without `due` one for the service.
   */
  every?: number;
  due?: Sql;
  /** Does the work. It is called again after a crash at any point. If it throws, the attempt has failed. */
  run(context: JobContext<For, Static<Input>>): Promise<void>;
  /**
   * Records in the tenant's rows that the last attempt failed, before the job is marked as failed. It may run again
   * after a crash.
   */
  onFailure?(
    query: Query,
    context: Pick<JobContext<For, Static<Input>>, 'target' | 'input'>,
    error: unknown,
  ): Promise<void>;
}

/** A job without a public record, in the list of jobs. */
// `any`, because the list contains jobs of every shape; each is typed where it is defined.
export type BackgroundJob<Input = any> = JobDefinition<any, any> & Enqueueable<Input>;

/**
 * Defines a background job: a value in the `feature.ts` of its folder. An endpoint enqueues it with `later(job,
 * input)`, a CTE of its write, so that the job exists if and only if the write was committed.
 */
export function defineJob<For extends JobFor, Input extends TObject<TProperties> = TObject<Record<never, TSchema>>>(
  definition: JobDefinition<For, Input>,
): BackgroundJob<Static<Input>> {
  const untyped = definition as unknown as JobDefinition<any, any>;
  return { ...untyped, enqueue: (input, from) => enqueueCte(untyped, input as object, from) };
}

const COLUMNS: Record<JobFor, Sql> = {
  wiki: raw('f.workspace_id, f.wiki_id, null'),
  workspace: raw('f.workspace_id, null, null'),
  user: raw('null, null, f.user_id'),
  service: raw('null, null, null'),
};
const TENANT_KEY: Record<JobFor, Sql> = {
  wiki: raw('f.wiki_id'),
  workspace: raw('f.workspace_id'),
  user: raw('f.user_id'),
  service: raw(`''`),
};

/**
 * Returns the CTE that enqueues a job for each row of `from` (with the columns of its tenant: workspace_id, wiki_id,
 * user_id), unless a job with its key is queued.
 */
function enqueueCte(
  job: Pick<JobDefinition<any, any>, 'name' | 'lane' | 'for' | 'key'>,
  input: object,
  from: Sql,
): Sql {
  return sql`
    insert into background_jobs (name, lane, key, workspace_id, wiki_id, user_id, input)
    select ${job.name}, ${job.lane}, ${keyOf(job, input)}, ${COLUMNS[job.for as JobFor]}, ${JSON.stringify(input)}::jsonb
    from ${from} f on conflict do nothing`;
}

function keyOf({ key, for: jobFor }: Pick<JobDefinition<any, any>, 'for' | 'key'>, input: object): Sql {
  if (key === undefined) return raw('gen_random_uuid()::text');
  return key === 'tenant' ? TENANT_KEY[jobFor as JobFor] : sql`${key(input)}`;
}

/** A public job (a record of a wiki), claimed by a worker. */
export interface ClaimedJob {
  wiki_id: string;
  job_id: string;
  upload_id: string | null;
  kind: string;
  attempt: number;
  failures: number;
  /** The user who asked for the job. It sees the pages that this person sees. Null for a job of the service. */
  acts_for: string | null;
}

/** A kind of public job, whose record shows its progress and result. */
export interface RecordJob {
  record: true;
  name: Job['kind'];
  lane: Lane;
  /** Number of failures without progress before the job is given up. */
  attempts: number;
  /**
   * Works until the end, and records the end in the transaction of its last write. Stops early if `signal` is aborted:
   * on an orderly stop, and if the job was cancelled or taken over. If it throws, the attempt has failed.
   */
  run(context: { db: ContextDb; job: ClaimedJob; services: JobServices; signal: AbortSignal }): Promise<void>;
  /** Ends a job that failed too often. */
  onFailure(query: Query, job: ClaimedJob, error: string): Promise<void>;
}

/**
 * Defines a kind of public job: a value in the `feature.ts` of its folder. An endpoint enqueues it with
 * `later(jobRecord, …)`.
 */
export function defineRecordJob(definition: Omit<RecordJob, 'record'>): RecordJob {
  return { record: true, ...definition };
}

export type AnyJob = BackgroundJob | RecordJob;

export function isRecordJob(job: AnyJob): job is RecordJob {
  return 'record' in job;
}

/**
 * The outcome of an attempt. `failed`: the last attempt failed. `interrupted`: by a stop, a cancellation, a worker that
 * took the job over, or an unavailable database or file store.
 */
export type Outcome = 'succeeded' | 'retried' | 'failed' | 'interrupted';

/** Called after each attempt of a job in this process. */
export type OnAttempt = (name: string, outcome: Outcome, seconds: number) => void;
