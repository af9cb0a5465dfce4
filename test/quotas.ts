import assert from 'node:assert/strict';
import { COMMAND } from '../src/operation/operator/audit.ts';
import type { LimitChanges } from '../src/operation/operator/schema.ts';
import { changeLimits } from '../src/operation/operator/workspace-controls.ts';
import type { Usage } from '../src/organization/usage/schema.ts';
import type { OwnerDb } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Client } from './world.ts';

/** Sets limits of a workspace, as the operator does. */
export const limit = (db: OwnerDb, workspace_id: string, changes: LimitChanges) =>
  changeLimits(db, COMMAND, workspace_id, changes);

export async function usageBy(client: Client, workspace_id: string): Promise<Record<Usage['name'], number>> {
  const { status, body } = await client.get(`/v1/workspaces/${workspace_id}/usage`);
  assert.equal(status, 200, JSON.stringify(body));
  const entries = (body as Usage[]).map((usage) => [usage.name, usage.used]);
  return Object.fromEntries(entries);
}

/** Returns a workspace's usage as recorded by its writes and as counted from its rows, in one snapshot. */
export async function counted(db: OwnerDb, workspace_id: string): Promise<{ kept: object; actual: object }> {
  const [row] = await db.query<{ kept: object; actual: object }>(sql`
    select (select jsonb_object_agg(u.name, u.used) from usage_and_limits(${workspace_id}) u) as kept,
      (select to_jsonb(a) from actual_usage(${workspace_id}) a) as actual`);
  assert.ok(row);
  return row;
}
