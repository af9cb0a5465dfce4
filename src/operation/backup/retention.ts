import type { BackupRetention } from '../../platform/core/backup-plan.ts';
import type { Manifest } from './manifest.ts';

type Backup = Pick<Manifest, 'backup_id' | 'made_at'> & { files: Pick<Manifest['files'], 'missing'> };

/** A name of the day, week (its Monday) or month, in UTC, in which a backup was made. */
const PERIODS: Record<keyof BackupRetention, (made: Date) => string> = {
  daily: (made) => made.toISOString().slice(0, 10),
  weekly: (made) => new Date(made.getTime() - ((made.getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10),
  monthly: (made) => made.toISOString().slice(0, 7),
};

/**
 * The ids of the backups to keep: the latest of each of the latest days, weeks and months that have one. The latest is always
 * among them, and so is the latest that misses no file, so that there is one to restore.
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
