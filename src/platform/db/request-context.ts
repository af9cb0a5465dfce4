import type pg from 'pg';
import { type PreparedStatement, sendPrepared } from './prepared-query.ts';
import { answeredWithin } from './silence.ts';
import { bindMessage, type WireValue } from './wire-messages.ts';

/**
 * The caller and the target of a request: the arguments of the database function `set_request_context`. Row-level
 * security uses them to decide which rows a statement can see; see the first section of migrations/001_baseline.sql.
 */
export type RequestContext = (
  | { who: 'key'; hash: Buffer }
  /** The access token of a session. */
  | { who: 'session'; hash: Buffer }
  | { who: 'identity'; issuer: string; subject: string }
  /** The claims of a widget token. */
  | { who: 'widget'; user_id: string; workspace_id: string }
  /** An operator's command on behalf of a user. */
  | { who: 'command'; user_id: string }
  /** A worker that runs a job of this wiki. With a user, it sees the pages that this person sees at the moment. */
  | { who: 'job'; acts_for?: string | null }
  /** The holder of a link's secret, without any other credential. */
  | { who: 'link' }
  | { who: 'service' }
) & {
  /** The object in the path. */
  path?: { workspace_id: string } | { wiki_id: string } | undefined;
  /** Hash of an invitation's secret, which makes the invitation's workspace visible. */
  invitation?: Buffer | undefined;
  /** Id of a workspace that the request may create. */
  new_workspace_id?: string | undefined;
};

export const SERVICE: RequestContext = { who: 'service' };

/** A position in the write-ahead log. On one timeline, a later position has a greater `lsn`. */
export interface WalPosition {
  lsn: string;
  /** Identifies the timeline and the database. */
  marker: string;
}

/** Maximum time that a replica delays a read to reach the required position. */
const REPLAY_WAIT_MS = 50;

/**
 * The last column is the tenant of the request: the workspace of the path, or else the user of the credential; "" for
 * none.
 */
const TEXT = `
  select set_request_context($1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::bytea, $8::text),
    set_config('statement_timeout', $9::text, true),
    coalesce(nullif(case when $5 is null and $6 is null then '' else current_setting('ibid.workspaces', true) end, ''),
      current_setting('ibid.user', true))`;
const NAME = 'set_request_context';
const TENANT_COLUMN = 2;

/** For replicas: columns are evaluated in order, and volatile functions see rows committed before they are called. */
const REPLICA_TEXT = `${TEXT.trim().replace(/^select /, 'select wait_for_replay($10::pg_lsn, $11::uuid, $12::int), ')}`;

/**
 * Returns the statement that is sent once on each new connection to prepare `set_request_context`. It has no effect
 * outside a transaction. On a replica every statement can also wait for a position.
 */
export function prepareContext(isReplica: boolean): { name: string; text: string; values: WireValue[] } {
  const values = valuesOf(SERVICE, 30_000);
  return isReplica
    ? { name: NAME, text: REPLICA_TEXT, values: [...values, ...replayValues(undefined)] }
    : { name: NAME, text: TEXT, values };
}

/** Without a position, the replica does not wait. */
function replayValues(after: WalPosition | undefined): WireValue[] {
  return after ? [after.lsn, after.marker, String(REPLAY_WAIT_MS)] : [null, null, null];
}

function valuesOf(context: RequestContext, timeoutMs: number): WireValue[] {
  const [name, second] =
    context.who === 'identity'
      ? [context.issuer, context.subject]
      : context.who === 'widget'
        ? [context.user_id, context.workspace_id]
        : context.who === 'command'
          ? [context.user_id, null]
          : context.who === 'job'
            ? [context.acts_for ?? null, null]
            : [null, null];
  const { path, invitation = null, new_workspace_id = null } = context;
  return [
    // A user by their id, in all of their workspaces.
    context.who === 'command' ? 'widget' : context.who,
    context.who === 'key' || context.who === 'session' ? context.hash : null,
    name,
    second,
    path && 'workspace_id' in path ? path.workspace_id : null,
    path && 'wiki_id' in path ? path.wiki_id : null,
    invitation,
    new_workspace_id,
    `${timeoutMs}ms`,
  ];
}

export interface ContextOptions {
  /** Time limit of the statement, at least 1. A connection that is silent for longer is closed. */
  timeoutMs: number;
  /** Called with the tenant of the request; "" for none. */
  onTenant?: (tenant: string) => void;
  /**
   * On a connection to a replica: the position that the statement must see. Throws IBLAG if the replica does not reach
   * it in time.
   */
  replica?: { after: WalPosition | undefined };
}

/**
 * Sends a prepared statement preceded by `set_request_context` and returns its rows. In a transaction, the context
 * stays set until the end. request-context.test.ts lists the driver internals that this relies on.
 */
export function sendInContext(
  to: pg.ClientBase,
  context: RequestContext,
  statement: PreparedStatement,
  { timeoutMs, onTenant, replica }: ContextOptions = { timeoutMs: 30_000 },
): Promise<Record<string, unknown>[]> {
  const values = valuesOf(context, timeoutMs);
  const preceding = {
    bind: bindMessage(NAME, replica ? [...values, ...replayValues(replica.after)] : values),
    onRow: (fields: readonly (string | null)[]) =>
      onTenant?.(fields[replica ? TENANT_COLUMN + 1 : TENANT_COLUMN] ?? ''),
  };
  return answeredWithin(to, timeoutMs, () => sendPrepared(to, statement, preceding));
}
