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
 * The lanes of a process and their sizes: jobs of one lane wait only for each other. `uploads` has fewer slots where
 * the database has few connections.
 */
export const LANES = {
  /** Uploads, exports and imports. */
  uploads: 4,
  /** The search index. */
  index: 2,
  /** Messages to a mail server, which may be slow. */
  mail: 4,
  /** Requests to the payment provider, for which a job waits most of its time: a slow one holds up its own workspace alone. */
  billing: 8,
  /** Removal of old data. */
  maintenance: 1,
  /** Backups, which may take hours. */
  backups: 1,
} as const;
export type Lane = keyof typeof LANES;

/** What a job may use besides the database. */
export interface JobServices {
  blobs: Blobs;
  mail: Mail;
  payments: Payments;
  /** The catalogue of plans. */
  plans: readonly Plan[];
  /** Compiles files outside the request path, at lower CPU priority than page reads. */
  sandbox: Sandbox;
  /** Opens PDF, Word, EPUB and ZIP files in confined processes. */
  reader: DocumentReader;
  /** Signatures of the service, which every process on its database can verify. */
  signatures: Signatures;
  /** The service's public address, without a trailing slash. */
  publicUrl: string;
  limits: Limits;
  /** Where BACKUP_SCHEDULE is set. */
  backups: Backups | undefined;
  log: Logger;
}

/** When backups are made, and how. */
export interface Backups {
  schedule: BackupSchedule;
  /** Whether moments between backups can be recovered, which needs a base backup after each gap. */
  hasWal: boolean;
  /** Runs `ibid backup` in a process, until it has ended or `signal` is aborted; its exit code, and the end of what it wrote. */
  make(signal: AbortSignal): Promise<{ code: number | null; output: string }>;
}

/** The services of jobs of a workspace; '' for jobs of none. */
export type ServicesOf = (workspace_id: string) => JobServices;

/** The tenant of a job, which decides what it can see of the database. */
type Tenant = {
  wiki: { wiki_id: string };
  workspace: { workspace_id: string };
  user: { user_id: string };
  service: object;
};
export type JobFor = keyof Tenant;

interface JobContext<For extends JobFor, Input> {
  /** The rows of its wiki or workspace; for a user or the service itself those of the service context. */
  db: ContextDb;
  /** The ids of its tenant. */
  target: Tenant[For];
  input: Input;
  services: JobServices;
  /** Aborted on an orderly stop and at the timeout; the next attempt does the rest. */
  signal: AbortSignal;
}

interface JobDefinition<For extends JobFor, Input extends TObject<TProperties>> {
  /** What it does, as a verb and an object in kebab case. It is stored with each job, so it never changes. */
  name: string;
  for: For;
  lane: Lane;
  /**
   * At most one job of a name and key is queued, and one runs. `tenant`: the id of its wiki, workspace or user is the
   * key.
   */
  key?: 'tenant' | ((input: Static<Input>) => string);
  /**
   * How often it may fail. `forever`: retried as long as its rows exist, with pauses of up to an hour, unless it ends its
   * process three times in a row.
   */
  attempts: number | 'forever';
  /** After this time the attempt's signal is aborted, and the attempt has failed. */
  timeoutSeconds: number;
  input?: Input;
  /**
   * The interval in seconds of a scheduled job: one job for each tenant that `due` returns (wiki_id, workspace_id), or
   * one for the service itself.
   */
  every?: number;
  due?: Sql;
  /** Does the work, again after a crash at any point. An error that it throws is a failed attempt. */
  run(context: JobContext<For, Static<Input>>): Promise<void>;
  /**
   * Records in the rows of the tenant that the last attempt failed, before the job is marked as failed; after a crash it
   * may run again.
   */
  onFailure?(
    query: Query,
    context: Pick<JobContext<For, Static<Input>>, 'target' | 'input'>,
    error: unknown,
  ): Promise<void>;
}

/** A kind of job without a public record, in the list of jobs. */
// `any`, because the list holds jobs of every shape; each is typed where it is defined.
export type BackgroundJob<Input = any> = JobDefinition<any, any> & Enqueueable<Input>;

/**
 * Defines a background job: a value in the `feature.ts` of its folder. An endpoint enqueues it with `later(job, input)`,
 * a CTE of its write, so that the job exists exactly if the write does.
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
 * The CTE that enqueues a job for each row of `from` (workspace_id, wiki_id, user_id, as far as the job has that
 * tenant), unless one with its key is queued.
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

/** A public job, that is a record of a wiki, claimed by a worker. */
export interface ClaimedJob {
  wiki_id: string;
  job_id: string;
  upload_id: string | null;
  kind: string;
  attempt: number;
  failures: number;
}

/** A kind of public job, whose record shows its progress and result. */
export interface RecordJob {
  record: true;
  name: Job['kind'];
  lane: Lane;
  /** How often it may fail without progress. */
  attempts: number;
  /**
   * Works until the end, and records the end in the transaction of its last write. It stops early when `signal` is
   * aborted: on an orderly stop, and when the job was cancelled or taken over. An error that it throws is a failed
   * attempt.
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
 * How an attempt ended. `failed`: it was the last one. `interrupted`: by a stop, a cancellation, a worker that took the
 * job over, or because the database or the file store was unavailable.
 */
export type Outcome = 'succeeded' | 'retried' | 'failed' | 'interrupted';

/** Called after each attempt of a job in this process. */
export type OnAttempt = (name: string, outcome: Outcome, seconds: number) => void;
