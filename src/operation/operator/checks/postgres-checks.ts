import { measureSkewMs, SKEW_MAX_MS } from '../../../platform/db/clock-skew.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type DatabaseSubject, duration, type Finding, ok, problem, warning } from './finding.ts';

/** Warn from this skew on: the timestamps of logs no longer line up. */
const SKEW_NOTED_MS = 5_000;

export async function checkClock({ db }: DatabaseSubject): Promise<Finding[]> {
  const skew = await measureSkewMs(db.query);
  const far = duration(Math.abs(skew) / 1_000);
  const seen = `the clock of this machine is ${far} ${skew > 0 ? 'ahead of' : 'behind'} the database's`;
  if (Math.abs(skew) > SKEW_MAX_MS)
    return [problem(seen, 'the service refuses to start: synchronize both clocks with NTP')];
  if (Math.abs(skew) > SKEW_NOTED_MS) return [warning(seen, 'synchronize both clocks with NTP')];
  return [ok('the clocks of this machine and the database agree')];
}

interface Settings {
  version: string;
  is_standby: boolean;
  encoding: string;
  connections: number;
  used: number;
  xid_age: number;
  settings: Record<string, string>;
  /** Recorded and installed version of the library that collates text; null if the library has no versions. */
  collation_made: string | null;
  collation_now: string | null;
  /** Indexes that depend on the default collation. Indexes of Ibid sort by bytes. */
  collated: number;
  refresh: string;
}

const DANGEROUS = ['fsync', 'full_page_writes'];
const XID_AGE_WARNING = 500_000_000;
const XID_AGE_PROBLEM = 1_500_000_000;

/**
 * Checks the version of PostgreSQL and the settings and conditions that could make it lose acknowledged writes, or
 * stop.
 */
export async function checkPostgres({
  db,
  config: { DATABASE_CONNECTIONS, ROLE },
}: DatabaseSubject): Promise<Finding[]> {
  const [row] = await db.query<Settings>(sql`
    select current_setting('server_version') as version, pg_is_in_recovery() as is_standby,
      d.datcollversion as collation_made, pg_database_collation_actual_version(d.oid) as collation_now,
      (select count(*)::int from pg_index i where 'pg_catalog."default"'::regcollation = any (i.indcollation::oid[])) as collated,
      format('alter database %I refresh collation version', d.datname) as refresh,
      pg_encoding_to_char(d.encoding) as encoding, age(d.datfrozenxid) as xid_age,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
      (select json_object_agg(name, setting) from pg_settings where name in
        ('fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum', 'data_checksums')) as settings
    from pg_database d where datname = current_database()`);
  if (!row) return [];
  const { version, settings, connections, used, xid_age } = row;
  const findings: Finding[] = [ok(`PostgreSQL ${version}; ${used} of ${connections} connections are in use`)];
  if (Number.parseInt(version, 10) < 15)
    findings.push(problem(`PostgreSQL ${version} is too old`, 'upgrade it to 15 or later'));
  if (row.is_standby) findings.push(problem('the server is a standby', 'set DATABASE_URL to the primary'));
  if (row.encoding !== 'UTF8')
    findings.push(problem(`the database has encoding ${row.encoding}`, 'create it with encoding UTF8'));
  const { collation_made, collation_now } = row;
  if (collation_made !== null && collation_now !== null && collation_made !== collation_now) {
    findings.push(
      warning(
        `the database was created with collation version ${collation_made}, and the system has version ${collation_now}; affected indexes: ${row.collated}`,
        `${row.collated === 0 ? '' : 'while nothing writes, reindex database; then '}${row.refresh}`,
      ),
    );
  }
  for (const name of DANGEROUS) {
    if (settings[name] === 'off')
      findings.push(problem(`${name} is off: a crash damages the database`, `alter system set ${name} = on`));
  }
  if (settings.synchronous_commit === 'off') {
    findings.push(
      warning(
        'synchronous_commit is off: a crash loses acknowledged writes',
        'alter system set synchronous_commit = on',
      ),
    );
  }
  if (settings.autovacuum === 'off')
    findings.push(warning('autovacuum is off: tables grow', 'alter system set autovacuum = on'));
  if (settings.data_checksums === 'off') {
    findings.push(
      warning(
        'data checksums are off: disk corruption is noticed late',
        'stop PostgreSQL and run pg_checksums --enable',
      ),
    );
  }
  const needed = DATABASE_CONNECTIONS + (ROLE === 'all' ? Math.min(DATABASE_CONNECTIONS, 10) : 0) + 2;
  if (connections < needed) {
    const seen = `a process of the service may use ${needed} connections, but the server allows ${connections}`;
    findings.push(warning(seen, 'raise max_connections, lower DATABASE_CONNECTIONS, or use a pooler'));
  }
  const advice =
    'run "vacuum freeze" as the owner of the database, and end old transactions and unused replication slots';
  if (xid_age > XID_AGE_PROBLEM) findings.push(problem(`transaction IDs are running out (age ${xid_age})`, advice));
  else if (xid_age > XID_AGE_WARNING)
    findings.push(warning(`old transaction IDs are not frozen (age ${xid_age})`, advice));
  return findings;
}
