import { SERVICE_ROLE } from '@ibid/postgres-server/roles.ts';
import type pg from 'pg';
import { type DbOptions, openPool } from './pool.ts';

/**
 * Session settings of every connection. Statements are prepared once and filter by id, so the generic plan is the right
 * one, and planning each call would cost more than running it.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  TimeZone: 'UTC',
  statement_timeout: '30s',
  idle_in_transaction_session_timeout: '30s',
  client_min_messages: 'warning',
};

/** SETTINGS as start options of a connection. */
export const SETTING_OPTIONS = Object.entries(SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/**
 * Thrown if the service refuses a connection, because row-level security would not apply or its statements could be
 * confused with other clients' statements. Requests treat the database as unavailable.
 */
export class UnsafeSession extends Error {
  override name = 'UnsafeSession';
  /** SQLSTATE of a rejected connection. */
  readonly code = '08004';
}

/**
 * Errors of a pooler that mixes up the prepared statements of its clients: 42P05 already exists, 26000 does not exist.
 */
const SHARED_STATEMENTS = /^(42P05|26000)$/;

const CHECK = 'check_session';

/**
 * Checks that the connection has the requested settings. A pooler may silently drop start options (PgBouncer with
 * `ignore_startup_parameters = options`): its sessions run as the login user, and if this is the owner of the tables,
 * without row-level security. Throws UnsafeSession with the remedy.
 */
async function checkSession(client: pg.ClientBase): Promise<void> {
  const { rows } = await client
    .query({
      name: CHECK,
      text: `
        select current_user::text as role, pg_backend_pid() as pid,
          array(select current_setting(name) from unnest($1::text[]) with ordinality s (name, i) order by i) as settings,
          exists (select from pg_prepared_statements where name = $2) as is_kept_by_name`,
      values: [Object.keys(SETTINGS), CHECK],
    })
    .catch((cause: { code?: string }) => {
      throw SHARED_STATEMENTS.test(cause.code ?? '') ? sharesStatements() : cause;
    });
  const [{ role, pid, settings, is_kept_by_name }] = rows as [
    { role: string; pid: number; settings: string[]; is_kept_by_name: boolean },
  ];
  const wrong = Object.entries(SETTINGS).filter(([, value], i) => settings[i] !== value);
  if (role !== SERVICE_ROLE) {
    throw new UnsafeSession(
      `The database runs the service as "${role}", to which row-level security does not apply, instead of "${SERVICE_ROLE}". If the database is behind a pooler, let "${SERVICE_ROLE}" log in by itself (alter role ${SERVICE_ROLE} login password '…') and set SERVICE_DATABASE_URL to that address.`,
    );
  }
  if (wrong.length > 0) {
    const statements = wrong.map(([name, value]) => `alter role ${SERVICE_ROLE} set ${name} = '${value}'`);
    throw new UnsafeSession(
      `The session settings of the service are wrong: let an administrator of the database run "${statements.join('; ')}".`,
    );
  }
  // A pooler assigns its own process ids to clients. If it also passes on the clients' statement names unchanged, it
  // mixes up the statements of two clients.
  if (is_kept_by_name && pid !== (client as unknown as { processID: number }).processID) throw sharesStatements();
}

function sharesStatements(): UnsafeSession {
  return new UnsafeSession(
    'The pooler in front of the database does not keep the prepared statements of its clients apart: use PgBouncer 1.21 or later with max_prepared_statements = 200, or connect the service to PostgreSQL directly.',
  );
}

export type ServiceDbOptions = DbOptions & {
  /** SERVICE_ROLE logs in directly and has its settings stored, so that no start option has to reach the server. */
  isOwnLogin?: boolean;
};

/** Opens connections that run as SERVICE_ROLE; refuses connections that do not. */
export function openServicePool(options: ServiceDbOptions, onConnect?: (client: pg.ClientBase) => Promise<unknown>) {
  return openPool(options, {
    ...(!options.isOwnLogin && { options: `${SETTING_OPTIONS} -c role=${SERVICE_ROLE}` }),
    onConnect: async (client) => {
      await checkSession(client);
      await onConnect?.(client);
    },
  });
}
