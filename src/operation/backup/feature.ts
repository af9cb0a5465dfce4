import type { Feature } from '../../platform/feature.ts';
import { makeScheduledBackup } from './make-backup.job.ts';
import { backupTables } from './tables.ts';

export const backup: Feature = { jobs: [makeScheduledBackup], tables: backupTables };
