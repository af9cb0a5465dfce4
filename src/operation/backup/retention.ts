import type { BackupRetention } from '../../platform/core/backup-plan.ts';
import type { Manifest } from './manifest.ts';

type Backup = Pick<Manifest, 'backup_id' | 'made_at'> & { files: Pick<Manifest['files'], 'missing'> };

/** The UTC day, week (by its Monday) or month of a backup, as a string. */
const PERIODS: Record<keyof BackupRetention, (made: Date) => string> = {
  daily: (made) => made.toISOString().slice(0, 10),
  weekly: (made) => new Date(made.getTime() - ((made.getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10),
  monthly: (made) => made.toISOString().slice(0, 7),
};

/**
 * Returns the ids of the backups to keep: the latest of each recent day, week and month that has one. The latest backup
 * and the latest backup without missing files are always kept, so that a complete backup can be restored.
 */
export function backupsToKeep(backups: readonly Backup[], retention: BackupRetention): Set<string> {
  const latestFirst = backups.toSorted((a, b) => (a.made_at < b.made_at ? 1 : -1));
  const whole = latestFirst.find(({ files }) => files.missing.length === 0);
  const kept = new Set([latestFirst[0], whole].flatMap((backup) => (backup ? [backup.backup_id] : [])));
  for (const [name, periodOf] of Object.entries(PERIODS)) {
    const periods = new Map<string, string>();
    for (const { backup_id, made_at } of latestFirst) {
      const period = periodOf(new Date(made_at));
      if (!periods.has(period)) periods.set(period, backup_id);
    }
    for (const id of [...periods.values()].slice(0, retention[name as keyof BackupRetention])) kept.add(id);
  }
  return kept;
}
