import type { QuotaName } from '../../platform/core/quotas.ts';
import type { Actor } from './audit.ts';

// What an operator is shown and can do: shapes that the commands and the operator's page share. They have no text of a tenant.

/** What a check has seen, and what to do about it. */
export interface Finding {
  /** ok: as it should be. warning: it works, and should be looked at. problem: something does not work, or data are in danger. */
  level: 'ok' | 'warning' | 'problem';
  seen: string;
  advice?: string;
}

export type NamedFinding = Finding & { check: string };

export interface LargeWorkspace {
  workspace_id: string;
  slug: string;
  bytes: number;
  pages: number;
  jobs: number;
  jobs_are_paused: boolean;
  job_share: number;
}

export interface WorkspaceUsage {
  name: QuotaName;
  used: number;
  /** null: unlimited. */
  allowed: number | null;
  /** Whether the limit was set for this workspace. */
  is_own: boolean;
}

/** Limits by name: null is unlimited, `plan` the one of the workspace's plan. */
export type LimitChanges = { [Name in QuotaName]?: number | null | 'plan' };

export interface ShownFailedJob {
  job_id: string;
  name: string;
  workspace_id: string | null;
  failed_at: string;
  /** Without what it quotes. */
  error: string;
}

export interface ServiceOverview {
  findings: NamedFinding[];
  versions: { ibid: string; node: string; postgresql: string; schema: string };
  /** Jobs of all processes by name. */
  jobs: { name: string; queued: number; running: number; failed: number; overdue_seconds: number }[];
  /** The latest of them. */
  failed_jobs: ShownFailedJob[];
  backup: { outcome: string; ended_at: string; backup_id: string; made_at: string } | undefined;
  /** Who used the database longest lately, by this process. */
  spenders: { workspace_id: string; slug: string; seconds: number }[];
}

export interface WorkspaceOverview {
  workspace: LargeWorkspace;
  usage: WorkspaceUsage[];
}

/** What the operator's page shows and does. */
export interface OperatorConsole {
  /** Whether this user is an operator: one with a verified address that the configuration names. */
  isOperator(user: { email: string; email_verified: boolean }): boolean;
  overview(): Promise<ServiceOverview>;
  /** Those that store the most; `named`: only the one with this id or slug. */
  workspaces(named?: string): Promise<LargeWorkspace[]>;
  /** undefined where there is none with this id. */
  workspace(workspace_id: string): Promise<WorkspaceOverview | undefined>;
  /** undefined where there is no such failed job. */
  retryJob(by: Actor, job_id: string): Promise<'queued' | 'superseded' | undefined>;
  changeLimits(by: Actor, workspace_id: string, changes: LimitChanges): Promise<void>;
  pauseJobs(by: Actor, workspace_id: string, jobs_are_paused: boolean): Promise<void>;
  changeShare(by: Actor, workspace_id: string, job_share: number): Promise<void>;
  signOutMembers(by: Actor, workspace_id: string, withKeys: boolean): Promise<{ sessions: number; keys: number }>;
}
