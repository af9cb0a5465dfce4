import type { PoolConfig } from 'pg';
import type { Outcome } from '../../platform/jobs/define-job.ts';
import type { MailOutcome } from '../../platform/providers/mail/observed-mail.ts';
import type { Spending } from '../../platform/sandbox/rendering/stats.ts';

/** Messages from the service to its process for public jobs. */
export type ToWorker = { kind: 'begin'; connection: PoolConfig | undefined } | { kind: 'wake' };

/** Messages from that process to the service. */
export type FromWorker =
  | { kind: 'ready'; worker_id: string }
  | { kind: 'attempt'; name: string; outcome: Outcome; seconds: number }
  | { kind: 'mail'; outcome: MailOutcome }
  | { kind: 'report'; spent: Spending };

export const REPORT_MS = 3_000;
