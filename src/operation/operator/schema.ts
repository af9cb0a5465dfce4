import type { QuotaName } from '../../platform/core/quotas.ts';
import type { Actor } from './audit.ts';

// Shapes that the operator's commands and page share. They contain no texts of tenants.

/** The observation of a check, with advice if it is not ok. */
export interface Finding {
  /** ok: as it should be. warning: works, but needs attention. problem: something does not work, or data is at risk. */
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
  /** Whether the limit was set for this workspace, instead of by its plan. */
  is_own: boolean;
}

/** New limits by name; null means unlimited, `plan` restores the limit of the workspace's plan. */
export type LimitChanges = { [Name in QuotaName]?: number | null | 'plan' };

export interface ShownFailedJob {
  job_id: string;
  name: string;
  workspace_id: string | null;
  failed_at: string;
  /** Cut at the first quotation, which may contain a tenant's text. */
  error: string;
}

export interface ServiceOverview {
  findings: NamedFinding[];
  versions: { ibid: string; node: string; postgresql: string; schema: string };
  /** Jobs of all processes by name. */
  jobs: { name: string; queued: number; running: number; failed: number; overdue_seconds: number }[];
  failed_jobs: ShownFailedJob[];
  backup: { outcome: string; ended_at: string; backup_id: string; made_at: string } | undefined;
  /** Workspaces by recent database time of this process; time decays with a half-life of five minutes. */
  spenders: { workspace_id: string; slug: string; seconds: number }[];
}

export interface WorkspaceOverview {
  workspace: LargeWorkspace;
  usage: WorkspaceUsage[];
}

export interface OperatorConsole {
  /** Whether this user has a verified address that the option OPERATORS names. */
  isOperator(user: { email: string; email_verified: boolean }): boolean;
  overview(): Promise<ServiceOverview>;
  /** Returns the workspaces that store the most; with `named`, only the workspace with this id or slug. */
  workspaces(named?: string): Promise<LargeWorkspace[]>;
  /** Returns undefined if no workspace has this id. */
  workspace(workspace_id: string): Promise<WorkspaceOverview | undefined>;
  /** Returns undefined if no failed job has this id. */
  retryJob(by: Actor, job_id: string): Promise<'queued' | 'superseded' | undefined>;
  changeLimits(by: Actor, workspace_id: string, changes: LimitChanges): Promise<void>;
  pauseJobs(by: Actor, workspace_id: string, jobs_are_paused: boolean): Promise<void>;
  changeShare(by: Actor, workspace_id: string, job_share: number): Promise<void>;
  signOutMembers(by: Actor, workspace_id: string, withKeys: boolean): Promise<{ sessions: number; keys: number }>;
}
