import type { Statements } from '../../../platform/access/guard.ts';
import { newId } from '../../../platform/core/ids.ts';
import { GROUP_ROLES } from '../../../platform/core/sign-in/group-roles.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { Origin } from '../../../platform/http/endpoint.ts';
import type { SignInOptions } from '../../../platform/http/services.ts';

interface Followed {
  workspace: string | null;
  slug: string;
  name: string | null;
  outcome: 'joined' | 'changed' | 'ended' | 'unknown' | 'full' | 'unpaid';
  membership: string | null;
  person: string;
  was: object;
  became: object;
}

/**
 * Updates the memberships of a new session's user from their groups at the issuer, with an audit record of each change.
 * Runs in the transaction that creates the session. Returns the names of workspaces where a group grants a role but no
 * seat is free.
 */
export async function followGroups(
  tx: Statements,
  { roles, warn }: NonNullable<SignInOptions['groups']>,
  { session_id, groups, issuer }: { session_id: string; groups: readonly string[]; issuer: string },
  { address }: Origin,
): Promise<string[]> {
  const own = new Set(groups);
  const wanted = new Map<string, string | null>();
  for (const { group, workspace, role } of roles) {
    const best = wanted.get(workspace) ?? null;
    const isBetter = own.has(group) && GROUP_ROLES.indexOf(role) > GROUP_ROLES.indexOf(best ?? '');
    wanted.set(workspace, isBetter ? role : best);
  }
  const entries = [...wanted].map(([slug, role]) => ({ slug, role, membership_id: newId('mem') }));
  const found = await tx.maybeOne<{ rows: Followed[] }>(sql`
    select coalesce(jsonb_agg(f), '[]') as rows from follow_groups(${session_id}, ${JSON.stringify(entries)}::jsonb) f`);
  const rows = found?.rows ?? [];
  const changes = rows
    .filter(({ outcome }) => ['joined', 'changed', 'ended'].includes(outcome))
    .map((row) => ({ ...row, event_id: newId('evt') }));
  if (changes.length > 0) {
    await tx.maybeOne(sql`
      insert into audit_events (event_id, workspace_id, type, target_kind, target_id, actor_id, credential_kind, credential_id,
        request_id, address, before, after)
      select c.event_id, c.workspace, 'organization_membership.' || case c.outcome when 'joined' then 'created' else 'updated' end,
        'organization_membership', c.membership, c.person, 'identity', ${issuer}, '', ${address}::text, c.was, c.became
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
        as c (event_id text, workspace text, outcome text, membership text, person text, was jsonb, became jsonb)
      returning 1`);
  }
  for (const { outcome, slug, person } of rows) {
    if (outcome === 'unknown') warn(`OIDC_ROLES names ${slug}, but no such workspace exists`, { workspace: slug });
    if (outcome === 'full' || outcome === 'unpaid') {
      const reason = outcome === 'full' ? 'has no free seat' : 'is read-only because of an unpaid invoice';
      warn(`a group grants access to a workspace that ${reason}`, { workspace: slug, user_id: person });
    }
  }
  return rows.filter(({ outcome }) => outcome === 'full').map(({ name, slug }) => name ?? slug);
}
