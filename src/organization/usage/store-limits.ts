import { DEFAULT_QUOTAS, type Quotas } from '../../platform/core/quotas.ts';
import type { Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Plan } from '../../platform/providers/payments/payments.ts';

/**
 * Stores the limits of the service and of the plans for the database's triggers. Only writes changes. A plan removed
 * from the catalogue keeps its limits for the workspaces still on it. Needs the privileges of the owner.
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
