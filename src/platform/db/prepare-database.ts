import { SERVICE_ROLE } from '@ibid/postgres-server/roles.ts';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import { splitServers } from '../core/database-url.ts';
import type { Migration } from './apply-migration.ts';
import type { OwnerDb, Query } from './db.ts';
import { migrate } from './migrate.ts';
import { SETTINGS } from './service-session.ts';
import { raw, sql } from './sql.ts';

const MINIMUM_POSTGRES = 150_000;

/** Location of the database: DATABASE_URL, or the service's own PostgreSQL in DATA_DIR. */
interface DatabaseLocation {
  url: string | undefined;
  dataDir: string;
}

/**
 * Connects for the first time, creates the role of the service, and migrates. Returns the names of the applied
 * migrations. `onWait` is called with the reason when migrating has to wait. `migrations` limits the migrations to
 * apply. Throws StartError.
 */
export async function prepareDatabase(
  db: OwnerDb,
  place: DatabaseLocation,
  onWait: (reason: string) => void,
  migrations?: readonly Migration[],
): Promise<string[]> {
  const [row] = await db
    .query<{ version: number }>(sql`select current_setting('server_version_num')::int as version`)
    .catch((cause: NodeJS.ErrnoException) => {
      throw new StartError(explainFailure(place, cause), { cause });
    });
  if ((row?.version ?? 0) < MINIMUM_POSTGRES) {
    throw new StartError(
      "DATABASE_URL names a PostgreSQL older than 15: upgrade it, or unset DATABASE_URL to run Ibid's own PostgreSQL.",
    );
  }
  await ensureServiceRole(db.query);
  return migrate(db, migrations, { onWait }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== '42501') throw cause;
    throw new StartError(
      `The user of DATABASE_URL may not create tables (${cause.message}): make it the owner of the database, or grant it create on the schema.`,
      { cause },
    );
  });
}

/**
 * Creates the role of the service. A role belongs to the whole server, so no migration creates it, and several services
 * may do so at once. Throws StartError if the user of DATABASE_URL may not create it, or if it could bypass row-level
 * security.
 */
async function ensureServiceRole(query: Query): Promise<void> {
  const find = sql`
    select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb as is_strong,
      pg_has_role(current_user, oid, 'member') as is_ours
    from pg_roles where rolname = ${SERVICE_ROLE}`;
  const look = async () => (await query<{ is_strong: boolean; is_ours: boolean }>(find))[0];
  const made = (statement: string) =>
    query(raw(statement)).catch((error: { code?: string }) => {
      // Another service has just created or granted it.
      if (!['42710', '23505', 'XX000'].includes(error.code ?? '')) throw error;
    });
  try {
    if (!(await look())) await made(`create role ${SERVICE_ROLE} nologin`);
    if (!(await look())?.is_ours) await made(`grant ${SERVICE_ROLE} to current_user`);
  } catch (cause) {
    if ((cause as { code?: string }).code !== '42501') throw cause;
    throw new StartError(
      `The user of DATABASE_URL may not create roles: let an administrator of the database run "create role ${SERVICE_ROLE} nologin" and grant it to that user.`,
      { cause },
    );
  }
  if ((await look())?.is_strong) {
    throw new StartError(
      `The role ${SERVICE_ROLE} has too many rights for the service: run "alter role ${SERVICE_ROLE} nosuperuser nobypassrls nocreaterole nocreatedb".`,
    );
  }
}

/**
 * Sets the session settings of SERVICE_ROLE if it can log in, because start options do not pass through a pooler. Skips
 * settings that the user may not set: an administrator has to set them, and `checkSession` names the missing ones.
 */
export async function setRoleSettings(query: Query): Promise<void> {
  const [row] = await query<{ logs_in: boolean; known: string[]; name: string }>(sql`
    select quote_ident(current_database()) as name,
      exists (select from pg_roles where rolname = ${SERVICE_ROLE} and rolcanlogin) as logs_in, array(
      select unnest(setconfig) from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
      where r.rolname = ${SERVICE_ROLE}
        and s.setdatabase = (select oid from pg_database where datname = current_database())
    ) as known`);
  for (const [name, value] of Object.entries(SETTINGS)) {
    if (!row?.logs_in || row.known.includes(`${name}=${value}`)) continue;
    try {
      await query(raw(`alter role ${SERVICE_ROLE} in database ${row.name} set ${name} = '${value}'`));
    } catch (error) {
      // 42501: not allowed; XX000: another process is setting the same option.
      if (!['42501', 'XX000'].includes((error as { code?: string }).code ?? '')) throw error;
    }
  }
}

function explainFailure({ url, dataDir }: DatabaseLocation, cause: NodeJS.ErrnoException): string {
  if (url) return explainUnreachable('DATABASE_URL', url, cause);
  return `The PostgreSQL in ${dataDir} does not answer (${cause.code ?? cause.message}): its log there says why.`;
}

/**
 * Explains why the database at the option's URL is unreachable, and the remedy. Never shows the user or the password.
 */
export function explainUnreachable(option: string, url: string, { code, message }: NodeJS.ErrnoException): string {
  const servers = splitServers(url).map((each) => new URL(each));
  const [{ pathname } = { pathname: '' }] = servers;
  const server = `The database server ${servers.map(({ host }) => decodeURIComponent(host)).join(' or ')}`;
  if (code === '3D000') {
    return `${server} has no database "${decodeURIComponent(pathname.slice(1))}": create it, or correct ${option}.`;
  }
  if (code === '08P01') {
    return `${server} is a pooler that refuses start options (${message}): name PostgreSQL itself in DATABASE_URL, and the pooler in SERVICE_DATABASE_URL.`;
  }
  if (code === '08004') return `${server} cannot be used: ${message}`;
  if (code === '28P01' || code === '28000') {
    return `${server} refuses the user or the password (${message}): correct ${option}.`;
  }
  return `${server} does not answer (${code ?? message}): start it, or correct ${option}; unset it to run Ibid's own PostgreSQL.`;
}
