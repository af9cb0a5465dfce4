import { backupDueSince } from '../../platform/core/backup-plan.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { type Backups, defineJob } from '../../platform/jobs/define-job.ts';
import type { BackupOutcome } from './backup-status.ts';
import { needsBase } from './wal/wal-archive.ts';

/** How often the job checks whether a backup is due. */
const LOOK_SECONDS = 60;
/** Pause after a failed backup, in seconds. */
const PAUSE_SECONDS = 900;

/**
 * Runs `ibid backup` as a separate process, which can be killed at any moment, when BACKUP_SCHEDULE requires it. Only
 * one process of the service does so, and manual backups count too.
 */
export const makeScheduledBackup = defineJob({
  name: 'make-backup',
  for: 'service',
  lane: 'backups',
  key: 'tenant',
  attempts: 1,
  timeoutSeconds: 24 * 3_600,
  every: LOOK_SECONDS,
  async run({ db: { query }, services: { backups, log }, signal }) {
    if (!backups || !(await isDue(query, backups))) return;
    const { code, output } = await backups.make(signal);
    if (signal.aborted || code === 0) return;
    const [status] = await query<{ outcome: BackupOutcome; error: string }>(sql`
      select last_outcome as outcome, last_error as error from backup_status`);
    if (status?.outcome !== 'incomplete') throw new Error(`ibid backup ended with ${code}: ${output}`);
    log.error(
      { reason: status.error },
      'the backup is incomplete: run ibid verify to list the files missing from the file store',
    );
  },
});

/** Decides by the clock of the database. */
async function isDue(query: Query, { schedule, hasWal }: Backups): Promise<boolean> {
  const [row] = await query<{ now: number; made_at: number | null; is_paused: boolean | null }>(sql`
    select extract(epoch from now())::float8 as now, extract(epoch from s.last_made_at)::float8 as made_at,
      s.last_outcome = 'failed' and s.last_ended_at > now() - make_interval(secs => ${PAUSE_SECONDS}) as is_paused
    from (select) one left join backup_status s on true`);
  if (!row || row.is_paused) return false;
  if (hasWal && (await needsBase(query))) return true;
  return row.made_at === null || row.made_at < backupDueSince(schedule, row.now);
}
