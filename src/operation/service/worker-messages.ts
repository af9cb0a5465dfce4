import type { PoolConfig } from 'pg';
import type { Outcome } from '../../platform/jobs/define-job.ts';
import type { MailOutcome } from '../../platform/providers/mail/observed-mail.ts';
import type { Spending } from '../../platform/sandbox/rendering/stats.ts';

/** What the service tells the process that it started for public jobs. */
export type ToWorker = { kind: 'begin'; connection: PoolConfig | undefined } | { kind: 'wake' };

/** What that process tells the service. */
export type FromWorker =
  | { kind: 'ready'; worker_id: string }
  | { kind: 'attempt'; name: string; outcome: Outcome; seconds: number }
  | { kind: 'mail'; outcome: MailOutcome }
  | { kind: 'report'; spent: Spending };

/** How often it reports. */
export const REPORT_MS = 3_000;
