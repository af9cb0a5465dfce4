import { type OwnerDb, openReplicaDb, type ReplicaDb } from '../../../platform/db/db.ts';
import { SERVICE, type WalPosition } from '../../../platform/db/request-context.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type DatabaseSubject, type Finding, ok, problem, reasonOf, warning } from '../../operator/checks/finding.ts';

/** Checks that each replica accepts the service's connections and follows the primary. */
export async function checkReplicas({ db, config }: DatabaseSubject): Promise<Finding[]> {
  if (config.DATABASE_REPLICA_URLS.length === 0) return [ok('there are none; the primary answers all reads')];
  const findings: Finding[] = [];
  for (const url of config.DATABASE_REPLICA_URLS) {
    const replica = openReplicaDb({
      connection: { connectionString: url },
      isOwnLogin: config.SERVICE_DATABASE_URL !== undefined,
      connections: 1,
      onConnectionLost: () => undefined,
    });
    try {
      findings.push(await examine(`the replica ${new URL(url).host}`, replica, db));
    } catch (error) {
      const seen = `the replica ${new URL(url).host} cannot be used: ${reasonOf(error)}`;
      findings.push(problem(seen, 'the primary answers its reads; see docs/operations/scale.md'));
    } finally {
      await replica.close();
    }
  }
  return findings;
}

async function examine(name: string, replica: ReplicaDb, primary: OwnerDb): Promise<Finding> {
  const [position] = await primary.query<WalPosition & { marker: string | null }>(sql`
    select pg_current_wal_flush_lsn()::text as lsn,
      (select marker from wal_timelines order by timeline desc limit 1) as marker`);
  const [row] = await replica.in(SERVICE).query<{ is_standby: boolean; bytes: number }>(sql`
    select pg_is_in_recovery() as is_standby,
      greatest(0, pg_wal_lsn_diff(${position?.lsn}::pg_lsn, coalesce(pg_last_wal_replay_lsn(), '0/0')))::float8 as bytes`);
  if (!row?.is_standby) return warning(`${name} is not a standby`, 'list only standbys in DATABASE_REPLICA_URLS');
  // Without a marker, the service has never run with replicas.
  if (position?.marker) {
    try {
      await replica.in(SERVICE, undefined, position).query(sql`select 1`);
    } catch (error) {
      if ((error as { code?: string }).code !== 'IBLAG') throw error;
      const seen = `${name} lags by ${row.bytes} bytes, or does not follow the primary in DATABASE_URL`;
      return warning(
        seen,
        "the primary answers its reads for now; check the standby's log, pg_stat_wal_receiver and disk",
      );
    }
  }
  return ok(`${name} follows the primary`);
}
