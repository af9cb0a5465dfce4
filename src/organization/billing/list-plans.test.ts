import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();

test('plans are listed in catalogue order and major units, and the current plan is marked', async () => {
  const owner = await world.owner();
  const path = `/v1/workspaces/${owner.workspace_id}/plans`;
  const before = await owner.get(path);
  assert.equal(before.status, 200);
  assert.deepEqual(
    before.body.map((plan: { plan_id: string }) => plan.plan_id),
    ['free', 'team_monthly', 'team_annual', 'business_monthly', 'business_annual', 'enterprise'],
  );
  assert.ok(before.body.every((plan: { current: boolean }) => !plan.current));
  await world.db.query(sql`
    insert into subscriptions (workspace_id, plan_id, quantity, period_start, period_end)
    values (${owner.workspace_id}, 'team_annual', 3, now(), now() + interval '1 year')`);
  const { body } = await owner.get(path);
  const { description: _, ...plan } = body[2];
  assert.deepEqual(plan, {
    plan_id: 'team_annual',
    name: 'Team (annual)',
    interval: 'year',
    currency: 'usd',
    unit_price: 80,
    seats: 1,
    unlimited: false,
    checkout: 'subscription',
    current: true,
  });
  assert.equal(body.filter(({ current }: { current: boolean }) => current).length, 1);
  assert.ok(!JSON.stringify(body).includes('stripe'), 'what the provider calls it is not for clients');
});
