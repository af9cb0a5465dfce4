import pg from 'pg';
import { splitServers } from '../../../platform/core/database-url.ts';
import { openServiceDb } from '../../../platform/db/db.ts';
import { explainUnreachable } from '../../../platform/db/prepare-database.ts';
import { SERVICE } from '../../../platform/db/request-context.ts';
import { UnsafeSession } from '../../../platform/db/service-session.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type DatabaseSubject, type Finding, ok, problem, warning } from '../../operator/checks/finding.ts';
import { serviceConnection } from '../../service/open-database.ts';

/** Checks that row-level security holds on the service's connections, and that a pooler in between is compatible. */
export async function checkSessions({ db, own, config }: DatabaseSubject): Promise<Finding[]> {
  const [role] = await db.query(sql`select from pg_roles where rolname = 'ibid_service'`);
  if (!role) return [ok('the first start creates the role of the service')];
  const { DATABASE_URL, SERVICE_DATABASE_URL } = config;
  const option = SERVICE_DATABASE_URL === undefined ? 'DATABASE_URL' : 'SERVICE_DATABASE_URL';
  const url = SERVICE_DATABASE_URL ?? DATABASE_URL;
  const service = openServiceDb({
    ...serviceConnection(config, own),
    connections: 1,
    onConnectionLost: () => undefined,
  });
  const findings: Finding[] = [];
  try {
    await service.in(SERVICE).query(sql`select 1`);
    const by = url !== undefined && (await isPooled(url)) ? `, through a pooler (${option})` : '';
    findings.push(ok(`the service connects as ibid_service, with row-level security${by}`));
  } catch (error) {
    if (error instanceof UnsafeSession) findings.push(problem(error.message, 'see docs/operations/poolers.md'));
    else if (url !== undefined)
      findings.push(problem(explainUnreachable(option, url, error as Error), `correct ${option}`));
    else throw error;
  } finally {
    await service.close();
  }
  if (SERVICE_DATABASE_URL !== undefined && DATABASE_URL !== undefined && (await isPooled(DATABASE_URL))) {
    findings.push(
      warning(
        'DATABASE_URL connects through a pooler',
        'set it to PostgreSQL itself: migrations and backups need dedicated sessions',
      ),
    );
  }
  return findings;
}

/** Detects a pooler, which gives clients process ids of its own. */
async function isPooled(url: string): Promise<boolean> {
  const [first = url] = splitServers(url);
  const client = new pg.Client({ connectionString: first, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('select pg_backend_pid() as pid');
    return rows[0].pid !== (client as unknown as { processID: number }).processID;
  } catch {
    // Other checks report a server that does not answer.
    return false;
  } finally {
    void client.end().catch(() => undefined);
  }
}
