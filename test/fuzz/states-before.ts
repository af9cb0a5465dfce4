import { randomBytes, randomUUID } from 'node:crypto';
import { type Sql, sql } from '../../src/platform/db/sql.ts';
import type { Endpoint } from '../../src/platform/http/endpoint.ts';
import { nameOf } from '../requests.ts';
import type { Actor, Tenants } from '../tenants.ts';

const held = (by: string | null) => sql`
  update workspaces set held_since = case when ${by}::text is not null then now() end, held_by = ${by},
    hold_reason = case when ${by}::text is not null then 'Another reason.' end`;

const picture = (user_id: string) => sql`
  update users set avatar_id = ${randomUUID()}, avatar_sha256 = ${randomBytes(32).toString('hex')}, avatar_type = 'image/png', avatar_bytes = 1
  where user_id = ${user_id}`;

const logo = (workspace_id: string) => sql`
  update workspaces set logo_sha256 = ${randomBytes(32).toString('hex')}, logo_type = 'image/gif', logo_bytes = 1
  where workspace_id = ${workspace_id}`;

/**
 * States to set up before each case, so that it does not depend on earlier cases and its request changes something: a
 * request without changes cannot show a fault.
 */
const STATES: Record<string, (tenants: Tenants) => Sql> = {
  'POST /v1/workspaces/:workspace_id/members/:membership_id/reactivate': ({ a }) => sql`
    update memberships set status = 'inactive' where membership_id = ${a.membership_id}`,
  'POST /v1/workspaces/:workspace_id/legal-hold': ({ a }) => sql`
    ${held(null)} where workspace_id = ${a.workspace_id}`,
  'POST /v1/workspaces/:workspace_id/legal-hold/lift': ({ a, owner }) => sql`
    ${held(owner.user_id)} where workspace_id = ${a.workspace_id}`,
  'GET /v1/workspaces/:workspace_id/logo': ({ a }) => sql`
    update workspaces set logo_sha256 = null, logo_type = null, logo_bytes = null where workspace_id = ${a.workspace_id}`,
  'PUT /v1/workspaces/:workspace_id/logo': ({ a }) => logo(a.workspace_id),
  'DELETE /v1/workspaces/:workspace_id/logo': ({ a }) => logo(a.workspace_id),
  'PUT /v1/me/avatar': ({ owner }) => picture(owner.user_id),
  'PUT /v1/widgets/profile/avatar': ({ owner }) => picture(owner.user_id),
  'DELETE /v1/me/avatar': ({ owner }) => picture(owner.user_id),
  'DELETE /v1/widgets/profile/avatar': ({ owner }) => picture(owner.user_id),
};

/**
 * Prepares the rows that this endpoint changes. Returns the caller: the owner, who is made owner again, or a new user.
 */
export async function prepareState(tenants: Tenants, endpoint: Endpoint): Promise<Actor> {
  const { a, owner, world } = tenants;
  const { db } = world;
  await db.query(sql`
    update memberships set role = 'viewer', status = 'active' where membership_id = ${a.membership_id}`);
  // The previous case may have made another member the owner.
  await db.query(sql`
    update memberships set role = 'owner'
    where workspace_id = ${a.workspace_id} and user_id = ${owner.user_id} and role <> 'owner'`);
  const state = STATES[nameOf(endpoint)]?.(tenants);
  if (state) await db.query(state);
  if (nameOf(endpoint) !== 'POST /v1/onboarding') return owner;
  // A user gets a workspace only once.
  const { user_id, token = '' } = await world.person();
  return { name: 'new user', user_id, token };
}
