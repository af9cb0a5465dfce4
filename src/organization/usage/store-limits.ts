import { DEFAULT_QUOTAS, type Quotas } from '../../platform/core/quotas.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';

/**
 * Writes the limits of the plans, and those of the service, for the database to decide with. Only what changed is written;
 * a plan that left the catalogue keeps its limits for the workspaces that are on it. Needs the rights of the owner.
 */
export async function storeLimits(query: Query, ofService: Quotas, plans: readonly Plan[]): Promise<void> {
  const rows = [
    { plan_id: '', limits: { ...DEFAULT_QUOTAS, ...ofService } },
    ...plans.map(({ plan_id, limits = {} }) => ({ plan_id, limits })),
  ];
  await query(sql`
    insert into plan_limits as p (plan_id, limits)
    select plan_id, limits from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (plan_id text, limits jsonb)
    on conflict (plan_id) do update set limits = excluded.limits where p.limits <> excluded.limits`);
}
