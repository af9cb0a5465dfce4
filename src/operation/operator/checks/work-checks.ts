import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from '../../../platform/db/sql.ts';
import { openObjects } from '../../../platform/providers/storage/objects.ts';
import { openBackupStore } from '../../backup/backup-store.ts';
import { type DatabaseSubject, duration, type Finding, ok, problem, warning } from './finding.ts';

interface JobState {
  failed: string[];
  waiting: number;
  oldest_seconds: number;
  workers: number;
  are_paused: boolean;
}

/** The threshold of the alert IbidJobsWait. */
const WAIT_SECONDS = 600;

/** Checks for failed and overdue jobs, and whether a worker is alive to run them. */
export async function checkJobs({ db }: DatabaseSubject): Promise<Finding[]> {
  const [row] = await db.query<JobState>(sql`
    select
      array(
        select count(*) || ' ' || name from background_jobs where status = 'failed' group by name order by name
      ) as failed,
      w.waiting, greatest(0, w.oldest_seconds) as oldest_seconds,
      (select count(*)::int from workers where alive_until > now()) as workers,
      exists (select from service_controls where jobs_are_paused) as are_paused
    from (
      select count(*)::int as waiting, coalesce(extract(epoch from now() - min(run_after)), 0)::float8 as oldest_seconds
      from (
        select run_after from background_jobs where status = 'queued' and run_after <= now()
        union all
        select run_after from jobs where status = 'queued' and run_after <= now()
      ) j
    ) w`);
  if (!row) return [];
  const { failed, waiting, workers, oldest_seconds } = row;
  const findings: Finding[] = [];
  if (failed.length > 0) {
    findings.push(
      warning(
        `failed jobs: ${failed.join(', ')}`,
        '"ibid jobs" shows their errors; "ibid jobs retry JOB_ID" runs one again',
      ),
    );
  }
  const seen = `workers: ${workers}, due jobs: ${waiting}`;
  const longest = waiting > 0 ? `, the oldest waiting for ${duration(oldest_seconds)}` : '';
  if (row.are_paused) findings.push(warning('jobs and mail are paused, as after a restore', 'run "ibid resume"'));
  else if (waiting > 0 && workers === 0)
    findings.push(warning(seen + longest, 'start the service, or a process with ROLE=worker'));
  else if (oldest_seconds > WAIT_SECONDS) {
    findings.push(
      problem(
        seen + longest,
        'start more processes with ROLE=worker; "ibid workspace list" shows which workspaces have the most jobs',
      ),
    );
  } else findings.push(ok(seen + longest));
  return findings;
}

interface BackupState {
  last_outcome: string;
  last_error: string;
  age_seconds: number | null;
}

/** The threshold of the alert IbidBackupOld; used if there is no schedule. */
const OLD_SECONDS = 36 * 3_600;

async function latestAt(url: string): Promise<string | undefined> {
  // Opening a folder would create it.
  if (url.startsWith('file:') && !existsSync(fileURLToPath(url))) return undefined;
  // A bucket store needs a folder for temporary files; this check writes none.
  const unused = await mkdtemp(join(tmpdir(), 'ibid-checks-'));
  try {
    const objects = await openObjects('BACKUP_URL', url, unused);
    try {
      return (await openBackupStore(objects, undefined).list()).at(-1);
    } finally {
      objects.close();
    }
  } finally {
    await rm(unused, { recursive: true, force: true });
  }
}

/** Checks the age of the latest backup and the outcome of the last attempt. */
export async function checkBackups({
  db,
  config: { BACKUP_URL, BACKUP_SCHEDULE: schedule },
}: DatabaseSubject): Promise<Finding[]> {
  const HOW = 'see docs/operations/backups.md';
  const [row] = await db.query<BackupState>(sql`
    select last_outcome, last_error, extract(epoch from now() - last_made_at)::float8 as age_seconds from backup_status`);
  if (BACKUP_URL === undefined) {
    return [
      warning(
        'no place for backups is set',
        `set BACKUP_URL and BACKUP_SCHEDULE, unless you make backups by other means: ${HOW}`,
      ),
    ];
  }
  if (!row) {
    const kept = await latestAt(BACKUP_URL);
    if (kept === undefined) {
      return [warning('no backup has been made yet', `run "ibid backup", and set BACKUP_SCHEDULE: ${HOW}`)];
    }
    return [
      warning(
        `this database has not been backed up since it was created or restored; the latest backup at BACKUP_URL is ${kept}`,
        'run "ibid backup"',
      ),
    ];
  }
  const findings: Finding[] = [];
  if (row.last_outcome !== 'succeeded') {
    findings.push(
      problem(
        `outcome of the last backup: ${row.last_outcome} (${row.last_error})`,
        'fix the cause, then run "ibid backup"',
      ),
    );
  }
  if (row.age_seconds === null) {
    if (findings.length === 0) findings.push(warning('no complete backup has been made yet', 'run "ibid backup"'));
    return findings;
  }
  const old = schedule && 'everySeconds' in schedule ? 2 * schedule.everySeconds : OLD_SECONDS;
  const seen = `the latest backup is ${duration(row.age_seconds)} old`;
  if (row.age_seconds > old)
    findings.push(
      problem(
        seen,
        schedule ? 'the log of a worker says why' : 'set BACKUP_SCHEDULE, or check what runs "ibid backup"',
      ),
    );
  else findings.push(ok(seen));
  return findings;
}
