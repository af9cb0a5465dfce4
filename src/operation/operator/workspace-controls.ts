import type { Db, Query } from '../../platform/db/db.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { type Actor, record } from './audit.ts';
import type { LargeWorkspace, LimitChanges, WorkspaceUsage } from './schema.ts';

/** Returns the workspaces that store the most; with `named`, only the workspace with this id or slug. */
export function listLargest(query: Query, top: number, named: string | null = null): Promise<LargeWorkspace[]> {
  return query(sql`
    select w.workspace_id, w.slug, coalesce(u.bytes, 0)::bigint as bytes, coalesce(u.pages, 0)::bigint as pages,
      coalesce(u.jobs, 0)::bigint as jobs, coalesce(c.jobs_are_paused, false) as jobs_are_paused,
      coalesce(c.job_share, 1) as job_share
    from workspaces w
    left join (
      select workspace_id, sum(bytes) as bytes, sum(pages) as pages, sum(jobs) as jobs from workspace_usage group by workspace_id
    ) u on u.workspace_id = w.workspace_id
    left join workspace_controls c on c.workspace_id = w.workspace_id
    where ${named}::text is null or w.workspace_id = ${named} or w.slug = ${named}
    order by 3 desc, 1 limit ${top}`);
}

export function usageOf(query: Query, workspace_id: string): Promise<WorkspaceUsage[]> {
  return query(sql`
    select u.name, u.used, u.allowed, coalesce(c.limits ? u.name, false) as is_own
    from usage_and_limits(${workspace_id}) u left join workspace_controls c on c.workspace_id = ${workspace_id}`);
}

/** Sets limits of a workspace, or restores the limits of its plan. */
export async function changeLimits(db: Db, by: Actor, workspace_id: string, changes: LimitChanges): Promise<void> {
  const names = Object.keys(changes);
  const own = Object.fromEntries(Object.entries(changes).filter(([, limit]) => limit !== 'plan'));
  await change(
    db,
    by,
    workspace_id,
    'workspace.limits_changed',
    sql`limits = (c.limits - ${names}::text[]) || ${JSON.stringify(own)}::jsonb`,
  );
}

/** Pauses or resumes the jobs of a workspace. Running jobs finish; workers claim no others while jobs are paused. */
export async function pauseJobs(db: Db, by: Actor, workspace_id: string, jobs_are_paused: boolean): Promise<void> {
  const event = jobs_are_paused ? 'workspace.jobs_paused' : 'workspace.jobs_resumed';
  await change(db, by, workspace_id, event, sql`jobs_are_paused = ${jobs_are_paused}`);
}

export async function changeShare(db: Db, by: Actor, workspace_id: string, job_share: number): Promise<void> {
  await change(db, by, workspace_id, 'workspace.job_share_changed', sql`job_share = ${job_share}`);
}

/**
 * Ends all sessions of a workspace's members, in every workspace, and invalidates its widget tokens. `withKeys` also
 * revokes the API keys of the workspace and the personal keys of its members. Returns the counts. Access tokens from an
 * OpenID issuer cannot be revoked here.
 */
export async function signOutMembers(
  db: Db,
  by: Actor,
  workspace_id: string,
  withKeys: boolean,
): Promise<{ sessions: number; keys: number }> {
  const isMember = sql`user_id in (select m.user_id from memberships m where m.workspace_id = ${workspace_id})`;
  return db.transaction(async (query) => {
    await setControls(query, workspace_id, sql`widget_tokens_after = now()`);
    const sessions = await query(sql`
      update sessions set revoked_at = now() where ${isMember} and revoked_at is null and expires_at > now() returning 1`);
    const keys = withKeys
      ? await query(sql`
          update api_keys set revoked_at = now()
          where revoked_at is null and (workspace_id = ${workspace_id} or (workspace_id is null and ${isMember}))
          returning 1`)
      : [];
    const ended = { sessions: sessions.length, keys: keys.length };
    await record(query, by, { workspace_id, event: 'workspace.signed_out', before: {}, after: ended });
    return ended;
  });
}

type Controls = Record<'limits' | 'jobs_are_paused' | 'job_share', unknown>;

/** Updates the controls of a workspace and audits the values that changed. */
async function change(db: Db, by: Actor, workspace_id: string, event: string, assignment: Sql): Promise<void> {
  await db.transaction(async (query) => {
    const { before, after } = await setControls(query, workspace_id, assignment);
    const names = (Object.keys(after) as (keyof Controls)[]).filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    );
    const pick = (controls: Controls) => Object.fromEntries(names.map((name) => [name, controls[name]]));
    await record(query, by, { workspace_id, event, before: pick(before), after: pick(after) });
  });
}

async function setControls(query: Query, workspace_id: string, assignment: Sql) {
  const columns = sql`jsonb_build_object('limits', c.limits, 'jobs_are_paused', c.jobs_are_paused, 'job_share', c.job_share)`;
  await query(sql`insert into workspace_controls (workspace_id) values (${workspace_id}) on conflict do nothing`);
  const [was] = await query<{ controls: Controls }>(sql`
    select ${columns} as controls from workspace_controls c where workspace_id = ${workspace_id} for update`);
  const [became] = await query<{ controls: Controls }>(sql`
    update workspace_controls c set ${assignment} where workspace_id = ${workspace_id} returning ${columns} as controls`);
  if (!was || !became) throw new Error('a row that was just written is missing');
  return { before: was.controls, after: became.controls };
}
