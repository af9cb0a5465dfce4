import { type ApiError, forbidden, notFound, paymentRequired, unauthorized } from '../core/errors.ts';
import type { ContextDb, Query, ServiceDb } from '../db/db.ts';
import type { RequestContext } from '../db/request-context.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { AuditTargets } from '../tables/define-table.ts';
import { type Access, accessCte, closedCondition, targetCte } from './access-rule.ts';
import type { AnswerTransaction } from './answer-transaction.ts';
import { auditCte, type EventType } from './audit-record.ts';
import { requestPath } from './caller-context.ts';
import { type Credential, claimsOf, kindOf } from './credential-kinds.ts';
import { mustRecordUse, recordUseCtes } from './record-use.ts';

/**
 * A statement: one piece of SQL, or named CTEs of which the last is the result. It may use the guard's own CTEs
 * `caller` (user_id, granted, …), `target` (the path's object) and `access` (user_id, workspace_id, wiki_id, role,
 * granted, …; no row if the caller is refused). A writing CTE must take its rows from `access`. In a statement that
 * changes or deletes, the CTE `before` returns the previous state (see auditCte).
 */
type Work = Sql | Record<string, Sql>;

export interface Statements {
  /**
   * Returns the only row; throws 404 if the statement returns none. `event` overrides the endpoint's event for this
   * write.
   */
  one<T>(work: Work, event?: EventType): Promise<T>;
  many<T>(work: Work, event?: EventType): Promise<T[]>;
  /** Returns the first row, or undefined. Leaves no audit record, even in a writing endpoint. */
  maybeOne<T>(work: Work): Promise<T | undefined>;
  /** Writes the consequences of another write in the same transaction, whose audit record covers both. */
  execute(work: Work): Promise<void>;
}

/** A job that a statement can enqueue; see jobs/define-job.ts. */
export interface Enqueueable<Input> {
  /** Returns the CTE that enqueues it, once for each row of `from`. */
  enqueue(input: Input, from: Sql): Sql;
}

/** An endpoint's only access to the database. */
export interface AuthorizedDb extends Statements {
  /**
   * Returns the CTE of a write that enqueues a job in the same commit, so that the job exists exactly if the write
   * does. Enqueues one job per row of `from`, by default the guard's `access`. Workers are woken after the commit.
   */
  later<Input>(job: Enqueueable<Input>, input: Input, from?: Sql): Sql;
  hasEnqueued(): boolean;
  /**
   * Runs several statements as one transaction. The first locks the row that guards the decisions of the others (the
   * workspace for seats and roles; the wiki for its tree; the user for endpoints on the caller), so that the data they
   * read stays valid until the commit. An endpoint without authentication takes its own locks.
   */
  transaction<T>(work: (tx: Statements) => Promise<T>): Promise<T>;
  /** Throws `error` for an invalid request, but only after checking the caller: 401, 404 and 403 come first. */
  refuse(error: ApiError): Promise<never>;
  /**
   * Returns whether the access rule was checked, if the endpoint has one. An endpoint that never checks it answers 500.
   */
  wasChecked(): boolean;
  /** Returns whether the endpoint has written, that is, whether its event happened. */
  hasWritten(): boolean;
}

interface GuardContext {
  /** The database in the context of the request. */
  db: ContextDb;
  access: Access;
  credential: Credential;
  params: Record<string, string>;
  /** The event of a writing endpoint. Each write adds an audit record of it in the same statement. */
  event: EventType | undefined;
  auditTargets: AuditTargets;
  /** Whether the request only reads, so that a replica may answer it. */
  onlyReads: boolean;
  /** Refused with 402 while the workspace is read-only because of an unpaid invoice. */
  needsPayment: boolean;
  request_id: string;
  address: string;
  /** Called if the use of a credential could not be recorded, which does not fail the request. */
  onRecordUseFailed: (error: unknown) => void;
  /** The transaction of a request with an Idempotency-Key; set after the caller was checked. */
  answering?: AnswerTransaction;
}

interface GuardColumns {
  _status: number;
  _found: boolean | null;
  _record_use: boolean;
}

export function guard(context: GuardContext): AuthorizedDb {
  const { db, access, answering } = context;
  const composer = composerOf(context);
  const state = { isChecked: access.on === 'anyone', isWritten: false };
  let isEnqueued = false;
  const statements = (query: Query, writeQuery: Query, after: AfterStatement) =>
    statementsOf({ composer, event: context.event, state, query, writeQuery, after });

  const top = answering
    ? // findAnswer() has recorded the use.
      statements(
        answering.query,
        <T>(statement: Sql) => answering.write((query) => query<T>(statement), isFound),
        skipRecordUse,
      )
    : statements(context.onlyReads ? db.read : db.query, db.write, useRecorder(context, composer.ctes));

  return {
    ...top,
    transaction(work) {
      const locked = async (query: Query) => {
        if (access.on !== 'anyone') await query(sql`${composer.ctes} ${lockOf(access)}`);
        return work(statements(query, query, skipRecordUse));
      };
      return answering ? answering.write(locked, () => state.isWritten) : db.transaction(locked);
    },
    async refuse(error) {
      await top.maybeOne(sql`select 1`);
      throw error;
    },
    later(job, input, from = raw('access')) {
      isEnqueued = true;
      return job.enqueue(input, from);
    },
    hasEnqueued: () => isEnqueued,
    wasChecked: () => state.isChecked,
    hasWritten: () => state.isWritten,
  };
}

/** Puts the access rule in front of the statements of an endpoint. */
interface Composer {
  /** `with` and the CTEs `caller`, `target` and `access`. */
  ctes: Sql;
  read(work: Work): Sql;
  write(work: Work, event: EventType): Sql;
}

function composerOf({
  access,
  credential,
  params,
  needsPayment,
  request_id,
  address,
  auditTargets,
}: GuardContext): Composer {
  const claims = claimsOf(credential);
  const origin = {
    credential_kind: credential.kind,
    request_id,
    address,
    widget: claims?.widget ?? '',
    widget_origin: claims?.origin ?? '',
  };
  const ctes = sql`
    with caller as materialized (${kindOf(credential).caller(credential)}),
    target as materialized (${targetCte(access, params, credential)}),
    access as materialized (${accessCte(access, params, credential)})`;
  const status = statusOf(requestPath(access, credential, params), needsPayment, closedCondition(access, params));
  return {
    ctes,
    read: (work) => sql`
    ${ctes}, ${ctesOf(work)}
    select ${status} as _status, ${mustRecordUse(access, credential)} as _record_use, r.*
    from (values (1)) always
    left join (select true as _found, result.* from result) r on exists (select from access)`,
    // At sign-in the guard does not know the user yet; the audit record names the user that the statement finds.
    // refuse() decides the status and fails the statement, so writes for a refused caller are rolled back.
    write: (work, event) => sql`
    ${ctes}, ${ctesOf(work)}, audit as (${auditCte(event, namesOf(work), origin, auditTargets)})
    select case when ${status} = 200 then 200 else refuse(${status}) end as _status,
      ${mustRecordUse(access, credential)} as _record_use, r.*
    from (values (1)) always left join (select true as _found, result.* from result) r on true`,
  };
}

type AfterStatement = (rows: GuardColumns[]) => Promise<void>;

/** Sends composed statements, and records in `state` that the rule was checked and that rows were written. */
function statementsOf(options: {
  composer: Composer;
  event: EventType | undefined;
  state: { isChecked: boolean; isWritten: boolean };
  query: Query;
  writeQuery: Query;
  after: AfterStatement;
}): Statements {
  const { composer, event: ownEvent, state, query, writeQuery, after } = options;
  async function rowsOf<T>(statement: Sql, send = query): Promise<T[]> {
    state.isChecked = true;
    const rows = await send<GuardColumns>(statement);
    refuseUnless200(rows[0]?._status);
    await after(rows);
    return rows[0]?._found ? (rows as T[]) : [];
  }
  async function run<T>(work: Work, event = ownEvent): Promise<T[]> {
    if (!event) return rowsOf<T>(composer.read(work));
    // A write with a different event records a refusal; it is committed even though the request fails.
    const rows = await rowsOf<T>(composer.write(work, event), event === ownEvent ? writeQuery : query);
    state.isWritten ||= rows.length > 0;
    return rows;
  }
  return {
    async one<T>(work: Work, event?: EventType) {
      const [row] = await run<T>(work, event);
      if (row === undefined) throw notFound();
      return row;
    },
    many: run,
    maybeOne: async <T>(work: Work) => (await rowsOf<T>(composer.read(work)))[0],
    execute: async (work) =>
      void (await rowsOf(composer.read('strings' in work ? { written: work as Sql, result: raw('select 1') } : work))),
  };
}

/** Records the use of a credential after a statement that requests it. */
function useRecorder({ db, credential, onRecordUseFailed }: GuardContext, ctes: Sql): AfterStatement {
  return async (rows) => {
    if (!rows[0]?._record_use) return;
    try {
      await db.query(sql`${ctes}, ${recordUseCtes(credential)}`);
    } catch (error) {
      onRecordUseFailed(error);
    }
  };
}

async function skipRecordUse(): Promise<void> {}

function isFound(rows: unknown[]): boolean {
  return (rows as GuardColumns[])[0]?._found === true;
}

interface Caller {
  user_id: string;
  credential_id: string;
}

/** Checks only the credential: 401 for a request that is refused before its target matters. */
export async function requireCaller(db: ServiceDb, credential: Credential): Promise<Caller | undefined> {
  if (credential.kind === 'none') return undefined;
  const [caller] = await db
    .in(kindOf(credential).context(credential))
    .query<Caller>(kindOf(credential).caller(credential));
  if (!caller) throw unauthorized();
  return caller;
}

/** Concurrent inserts of rows that reference the workspace, such as an enqueued job, do not wait for this lock. */
const WORKSPACE_LOCK = raw(
  'select 1 from workspaces w join access a on a.workspace_id = w.workspace_id for no key update of w',
);

const LOCKS: Record<Exclude<Access['on'], 'anyone'>, Sql> = {
  caller: raw('select 1 from users u join access a on a.user_id = u.user_id for update of u'),
  workspace: WORKSPACE_LOCK,
  widget: WORKSPACE_LOCK,
  // Rows of the wiki reference it; with this lock their writers do not wait. Pages may have been restricted since the
  // context of the transaction was set, at the latest while it waited for the lock.
  wiki: raw(`, locked as materialized (
      select w.wiki_id, w.acls from wikis w join access a on a.wiki_id = w.wiki_id for no key update of w)
    select renew_restrictions(l.wiki_id, a.user_id) from locked l, access a where l.acls > 0`),
};

function lockOf(access: Exclude<Access, { on: 'anyone' }>): Sql {
  return LOCKS[access.on === 'widget' && access.instead?.on === 'caller' ? 'caller' : access.on];
}

/**
 * Returns 404 if the object in the path does not exist, 403 if row-level security hides it from the caller or it `isClosed`.
 */
function statusOf(path: RequestContext['path'], needsPayment: boolean, isClosed: Sql | undefined): Sql {
  const payable = needsPayment
    ? raw('case when is_read_only((select workspace_id from access)) then 402 else 200 end')
    : raw('200');
  const allowed =
    isClosed === undefined ? payable : sql`case when (select ${isClosed} from access) then 403 else ${payable} end`;
  return sql`case when not exists (select from caller) then 401
      when exists (select from access) then ${allowed}
      when exists (select from target) or ${isKnown(path)} then 403 else 404 end`;
}

function isKnown(path: RequestContext['path']): Sql {
  if (path === undefined) return raw('false');
  return 'wiki_id' in path ? sql`knows_wiki(${path.wiki_id})` : sql`knows_workspace(${path.workspace_id})`;
}

function ctesOf(work: Work): Sql {
  if ('strings' in work) return sql`result as (${work as Sql})`;
  const entries = Object.entries(work);
  return entries
    .map(([name, step], i) => sql`${raw(i === entries.length - 1 ? 'result' : name)} as (${step})`)
    .reduce((before, step) => sql`${before}, ${step}`);
}

function namesOf(work: Work): string[] {
  return 'strings' in work ? [] : Object.keys(work).slice(0, -1);
}

function refuseUnless200(status: number | undefined): void {
  if (status === 401) throw unauthorized();
  if (status === 404) throw notFound();
  if (status === 403) throw forbidden();
  if (status === 402) throw paymentRequired();
  if (status !== 200) throw new Error('the guard of a statement returned no status');
}
