import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../../../test/extent.ts';
import { minorDigits, share } from './money.ts';
import { builtInPayments, type Plan, type PreviewInput, type Subscription } from './payments.ts';
import { PlanUnpriced } from './provider.ts';

const plan = (more: Partial<Plan>): Plan => ({
  plan_id: 'team_monthly',
  name: 'Team',
  description: '',
  interval: 'month',
  currency: 'usd',
  unit_amount: 800,
  seats: 1,
  unlimited: false,
  overage_allowed: true,
  checkout: 'subscription',
  proration_behavior: 'create_prorations',
  grace_days: 14,
  ...more,
});
const team = plan({});
const teamAnnual = plan({ plan_id: 'team_annual', name: 'Team (annual)', interval: 'year', unit_amount: 8000 });
const business = plan({ plan_id: 'business_monthly', name: 'Business', unit_amount: 1500 });
const free = plan({ plan_id: 'free', name: 'Free', interval: null, unit_amount: 0, checkout: 'none' });
const enterprise = plan({
  plan_id: 'enterprise',
  interval: null,
  unit_amount: 0,
  unlimited: true,
  checkout: 'contact_sales',
});

/** November has 30 days; at midnight of the 16th half of it is left. */
const november = (plan_id: string, quantity: number): Subscription => ({
  subscription_id: '',
  plan_id,
  quantity,
  period_start: new Date('2026-11-01T00:00:00Z'),
  period_end: new Date('2026-12-01T00:00:00Z'),
});
const MIDDLE = new Date('2026-11-16T00:00:00Z');

const preview = (input: Partial<PreviewInput>) =>
  builtInPayments().preview({
    ...{ plan: team, current: null, current_plan: null, customer_id: '', active: 1, now: MIDDLE },
    ...input,
  });

test('the first paid plan is a new subscription: each active member is a seat, and the customer is sent to a checkout', async () => {
  assert.deepEqual(await preview({ active: 7 }), {
    plan_id: 'team_monthly',
    checkout_type: 'subscription',
    currency: 'usd',
    line_items: [{ name: 'Team', description: '7 seats at USD 8.00 per month', quantity: 7, subtotal: 56, total: 56 }],
    redirect_to_checkout: true,
    subtotal: 56,
    total: 56,
  });
  const onFree = await preview({ plan: teamAnnual, current: november('free', 1), current_plan: free });
  assert.equal(onFree.checkout_type, 'subscription', 'A change from a free plan also starts the first subscription.');
  assert.equal(onFree.total, 80);
});

test('a workspace without an active member is charged for one seat', async () => {
  const { line_items, total } = await preview({ active: 0 });
  assert.deepEqual([line_items[0]?.quantity, total], [1, 8]);
});

test('a change within the interval credits the unused time of the old plan and charges the remaining time of the new one', async () => {
  assert.deepEqual(
    await preview({ plan: business, current: november('team_monthly', 3), current_plan: team, active: 5 }),
    {
      plan_id: 'business_monthly',
      checkout_type: 'update',
      currency: 'usd',
      line_items: [
        {
          name: 'Unused time on Team',
          description: 'Credit for 3 seats at USD 8.00 per month, from 2026-11-16 until 2026-12-01',
          quantity: 3,
          subtotal: -12,
          total: -12,
        },
        {
          name: 'Business',
          description: '5 seats at USD 15.00 per month, from 2026-11-16 until 2026-12-01',
          quantity: 5,
          subtotal: 37.5,
          total: 37.5,
        },
      ],
      redirect_to_checkout: false,
      subtotal: 25.5,
      total: 25.5,
    },
  );
});

test('a change of the interval starts a new period, paid in full minus the unused time of the old one', async () => {
  const reply = await preview({
    plan: teamAnnual,
    current: november('team_monthly', 1),
    current_plan: team,
    active: 1,
  });
  assert.equal(reply.checkout_type, 'update');
  assert.deepEqual(
    reply.line_items.map(({ total, description }) => [total, description]),
    [
      [-4, 'Credit for 1 seat at USD 8.00 per month, from 2026-11-16 until 2026-12-01'],
      [80, '1 seat at USD 80.00 per year'],
    ],
  );
  assert.equal(reply.total, 76);
});

test('a change that credits more than it charges has a negative total', async () => {
  const reply = await preview({
    plan: team,
    current: november('business_monthly', 2),
    current_plan: business,
    active: 2,
  });
  assert.deepEqual([reply.checkout_type, reply.total], ['update', -7]);
});

test('an ended period is not credited, and a period that has not started is credited at most in full', async () => {
  const change = { plan: business, current: november('team_monthly', 1), current_plan: team };
  const late = await preview({ ...change, now: new Date('2026-12-02T00:00:00Z') });
  assert.deepEqual([late.checkout_type, late.total, late.line_items.length], ['update', 15, 1]);
  const early = await preview({ ...change, now: new Date('2026-10-01T00:00:00Z') });
  assert.deepEqual(
    early.line_items.map(({ total }) => total),
    [-8, 15],
  );
  const last = await preview({
    ...change,
    current_plan: plan({ unit_amount: 1 }),
    now: new Date('2026-11-30T23:59:59Z'),
  });
  assert.deepEqual(
    last.line_items.map(({ total }) => total),
    [0, 0],
    'An amount that rounds to zero is 0, not -0.',
  );
  const empty = { ...change.current, period_end: change.current.period_start };
  assert.equal((await preview({ ...change, current: empty, now: empty.period_start })).total, 15);
});

test('the current plan and free plans cost nothing and need no checkout', async () => {
  const nothing = {
    checkout_type: null,
    currency: 'usd',
    line_items: [],
    redirect_to_checkout: false,
    subtotal: 0,
    total: 0,
  };
  const same = await preview({ current: november('team_monthly', 2), current_plan: team, active: 9 });
  assert.deepEqual(same, { plan_id: 'team_monthly', ...nothing });
  const downgrade = await preview({ plan: free, current: november('team_monthly', 2), current_plan: team });
  assert.deepEqual(downgrade, { plan_id: 'free', ...nothing }, 'A paid plan ends with its period and is not refunded.');
  assert.deepEqual(await preview({ plan: free }), { plan_id: 'free', ...nothing });
  const contract = await preview({ plan: enterprise, current: november('enterprise', 1), current_plan: enterprise });
  assert.deepEqual(contract, { plan_id: 'enterprise', ...nothing });
});

test('changes to and from enterprise plans are priced by sales', async () => {
  const sales = {
    checkout_type: 'contact_sales',
    currency: null,
    line_items: [],
    redirect_to_checkout: false,
    subtotal: null,
    total: null,
  };
  const current = { current: november('team_monthly', 2), current_plan: team };
  assert.deepEqual(await preview({ plan: enterprise }), { plan_id: 'enterprise', ...sales });
  assert.deepEqual(await preview({ plan: enterprise, ...current }), { plan_id: 'enterprise', ...sales });
  const leaving = await preview({ current: november('enterprise', 1), current_plan: enterprise });
  assert.deepEqual(
    leaving,
    { plan_id: 'team_monthly', ...sales },
    'A checkout would be paid in addition to the contract.',
  );
});

test('a plan in another currency is a new subscription, because subscriptions cannot change their currency', async () => {
  const euro = plan({ plan_id: 'team_eur', currency: 'eur' });
  const reply = await preview({ plan: euro, current: november('team_monthly', 1), current_plan: team });
  assert.deepEqual([reply.checkout_type, reply.currency, reply.total], ['subscription', 'eur', 8]);
});

test('a subscription whose plan is no longer in the catalogue has no price, and the error says what to do', async () => {
  const lost = preview({ current: november('gold', 1), current_plan: null });
  await assert.rejects(lost, (error) => {
    assert.ok(error instanceof PlanUnpriced);
    assert.match(error.message, /"gold".*put it back into PLANS_FILE/);
    return true;
  });
});

test('each currency has the decimals of ISO 4217', async () => {
  const digits = { usd: 2, eur: 2, jpy: 0, krw: 0, vnd: 0, kwd: 3, bhd: 3, iqd: 3, huf: 2, idr: 2, cop: 2, twd: 2 };
  for (const [currency, expected] of Object.entries(digits)) {
    assert.equal(minorDigits(currency), expected, `${currency} has ${expected} decimals.`);
  }
  const priceOf = async (currency: string, active: number) =>
    (await preview({ plan: plan({ currency }), active })).total;
  assert.equal(await priceOf('jpy', 3), 2400);
  assert.equal(await priceOf('kwd', 3), 2.4);
  assert.equal(await priceOf('usd', 3), 24);
  const yen = await preview({ plan: plan({ currency: 'jpy' }) });
  assert.equal(yen.line_items[0]?.description, '1 seat at JPY 800 per month');
  const dinar = await preview({ plan: plan({ currency: 'kwd' }) });
  assert.equal(dinar.line_items[0]?.description, '1 seat at KWD 0.800 per month');
});

test('a share is rounded half up, exactly, however large the amount is', () => {
  assert.equal(share(1, 1, 2), 1);
  assert.equal(share(3, 1, 2), 2);
  assert.equal(share(1, 499, 1000), 0);
  assert.equal(share(1, 0, 7), 0);
  assert.equal(share(9_007_199_254_740_991, 1, 1), 9_007_199_254_740_991);
  assert.equal(share(9_007_199_254_740_991, 31_535_999, 31_536_000), 9_007_198_969_124_576);
});

test('sums have no errors of binary fractions', async () => {
  // 0.1 + 0.2 is 0.30000000000000004 in floating point, and 3 × 1.1 is 3.3000000000000003.
  assert.equal((await preview({ plan: plan({ unit_amount: 10 }), active: 3 })).total, 0.3);
  assert.equal((await preview({ plan: plan({ unit_amount: 110 }), active: 3 })).total, 3.3);
  const change = { plan: plan({ plan_id: 'b', unit_amount: 60 }), current: november('a', 1), active: 1 };
  const reply = await preview({ ...change, current_plan: plan({ plan_id: 'a', unit_amount: 40 }) });
  assert.deepEqual(
    reply.line_items.map(({ total }) => total),
    [-0.2, 0.3],
  );
  assert.equal(JSON.stringify(reply.total), '0.1', '0.3 - 0.2 is 0.09999999999999998 in floating point.');
});

test('for all plans, seats and times the lines add up to the total exactly', async () => {
  const amount = fc.integer({ min: 1, max: 1_000_000_000 });
  const quantity = fc.integer({ min: 1, max: 100_000 });
  const start = Date.parse('2026-11-01T00:00:00Z');
  const scenario = fc.record({
    currency: fc.constantFrom('usd', 'jpy', 'kwd', 'huf'),
    from: amount,
    to: amount,
    bought: quantity,
    active: fc.integer({ min: 0, max: 100_000 }),
    intervals: fc.constantFrom(['month', 'month'], ['month', 'year'], ['year', 'month'], ['year', 'year']),
    length: fc.integer({ min: 1, max: 366 * 86_400 }),
    elapsed: fc.integer({ min: -1000, max: 367 * 86_400_000 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ currency, from, to, bought, active, intervals, length, elapsed }) => {
      const [before, next] = intervals as ['month' | 'year', 'month' | 'year'];
      const input = {
        plan: plan({ plan_id: 'next', currency, unit_amount: to, interval: next }),
        current_plan: plan({ plan_id: 'before', currency, unit_amount: from, interval: before }),
        current: {
          subscription_id: '',
          plan_id: 'before',
          quantity: bought,
          period_start: new Date(start),
          period_end: new Date(start + length * 1000),
        },
        active,
        now: new Date(start + elapsed),
      };
      const untouched = structuredClone(input);
      const reply = await preview(input);
      assert.deepEqual(input, untouched, 'A preview changes nothing.');
      const minor = (value: number | null) => {
        assert.ok(value !== null && Number.isFinite(value) && !Object.is(value, -0), `${value} is no amount.`);
        const units = Math.round(value * 10 ** minorDigits(currency));
        assert.equal(units / 10 ** minorDigits(currency), value, `${value} is not a whole number of minor units.`);
        return units;
      };
      const sum = reply.line_items.reduce((total, line) => total + minor(line.total), 0);
      assert.equal(minor(reply.total), sum, 'The lines must sum to the total.');
      assert.equal(reply.subtotal, reply.total, 'Without taxes the subtotal is the total.');
      const [credit, charge] = reply.line_items.length === 2 ? reply.line_items : [undefined, reply.line_items[0]];
      assert.ok(minor(charge?.total ?? null) <= to * Math.max(active, 1), 'Never charge more than the full price.');
      assert.ok(!credit || minor(credit.total) <= 0, 'A credit is never above zero.');
      assert.ok(!credit || minor(credit.total) >= -from * bought, 'Never credit more than was paid.');
    }),
    { numRuns: extent(2_000, 400) },
  );
});
