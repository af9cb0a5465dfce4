import type { Feature } from '../jobs/define-job.ts';
import { makeScheduledBackup } from './make-backup.job.ts';

export const backup: Feature = { jobs: [makeScheduledBackup] };
