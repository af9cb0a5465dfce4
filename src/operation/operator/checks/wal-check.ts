import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { waitingWalFolder } from '@ibid/postgres-server/running.ts';
import { byteAmount } from '../../../platform/core/quotas.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type DatabaseSubject, duration, type Finding, ok, problem, warning } from './finding.ts';

/** The threshold of the alert IbidWalBehind. */
const BEHIND_SECONDS = 900;

interface WalState {
  behind_seconds: number | null;
  needs_base: boolean;
  gap_at: string | null;
  failed: string | null;
}

/** Checks whether the service can be restored to any moment: the delay of WAL archiving, and whether WAL was lost. */
export async function checkWal({ db, config: { BACKUP_WAL, DATA_DIR } }: DatabaseSubject): Promise<Finding[]> {
  if (BACKUP_WAL === undefined)
    return [ok('BACKUP_WAL is empty: backups can be restored, but no moments between them')];
  const [state] = await db.query<WalState>(sql`
    select extract(epoch from now() - w.stored_until)::float8 as behind_seconds,
      w.based_at is null or coalesce(w.gap_at > w.based_at, false) as needs_base, w.gap_at,
      case when a.last_failed_time > coalesce(a.last_archived_time, '-infinity') then a.last_failed_wal end as failed
    from wal_archive w cross join pg_stat_archiver a`);
  if (!state) return [warning('BACKUP_WAL was set after the last start of the service', 'restart the service')];
  const { behind_seconds, needs_base, gap_at, failed } = state;
  const findings: Finding[] = [];
  if (failed !== null) {
    findings.push(
      problem(`PostgreSQL cannot copy its WAL (${failed})`, 'see postgres.log in DATA_DIR; its disk may be full'),
    );
  }
  if (needs_base) {
    const lost = gap_at === null ? 'no backup has a base backup' : 'WAL was lost before it was stored';
    findings.push(problem(`${lost}, so no current moment can be recovered`, 'run "ibid backup"'));
  }
  const waiting = await waitingBytes(waitingWalFolder(DATA_DIR));
  const age = behind_seconds === null ? 'no WAL is stored' : `WAL is stored until ${duration(behind_seconds)} ago`;
  const seen = `${age}; ${byteAmount(waiting)} waiting on the disk`;
  if (behind_seconds === null || behind_seconds > BEHIND_SECONDS) {
    findings.push(problem(seen, 'the service\'s log says why it cannot store WAL; after a restore, run "ibid resume"'));
  } else findings.push(ok(seen));
  return findings;
}

async function waitingBytes(folder: string | undefined): Promise<number> {
  if (folder === undefined) return 0;
  let bytes = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    // The file may have been archived and deleted since `readdir`.
    bytes += (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
