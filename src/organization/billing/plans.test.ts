import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { loadPlans, type Plan } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'plans-'));
cleanUp(() => rmSync(folder, { recursive: true }));

let files = 0;
function write(text: string): string {
  files += 1;
  const file = join(folder, `plans-${files}.json`);
  writeFileSync(file, text);
  return file;
}

const sound = {
  plan_id: 'crew',
  name: 'Crew',
  interval: 'month',
  currency: 'jpy',
  unit_amount: 900,
  seats: 1,
  checkout: 'subscription',
};

test('without PLANS_FILE there are six plans and three free seats', () => {
  const plans = loadPlans(undefined);
  const byId = new Map(plans.map((plan) => [plan.plan_id, plan]));
  assert.deepEqual(
    [...byId.keys()],
    ['free', 'team_monthly', 'team_annual', 'business_monthly', 'business_annual', 'enterprise'],
  );
  assert.equal(byId.get('free')?.seats, 3);
  assert.equal(byId.get('free')?.checkout, 'none');
  assert.equal(byId.get('enterprise')?.checkout, 'contact_sales');
  for (const plan of plans) assert.ok(plan.description, `Describe the plan ${plan.plan_id}.`);
});

test('a yearly plan costs as much as ten months', () => {
  const price = (id: string) => loadPlans(undefined).find((plan) => plan.plan_id === id)?.unit_amount ?? Number.NaN;
  assert.equal(price('team_annual'), 10 * price('team_monthly'), 'The description of the plan says so.');
  assert.equal(price('business_annual'), 10 * price('business_monthly'), 'The description of the plan says so.');
});

test("an operator's catalogue replaces the default one, and omitted fields get defaults", () => {
  const [plan, ...others] = loadPlans(write(JSON.stringify({ plans: [sound] })));
  const expected: Plan = {
    plan_id: 'crew',
    name: 'Crew',
    description: '',
    interval: 'month',
    currency: 'jpy',
    unit_amount: 900,
    seats: 1,
    unlimited: false,
    overage_allowed: false,
    checkout: 'subscription',
    proration_behavior: 'create_prorations',
    grace_days: 14,
  };
  assert.deepEqual(plan, expected);
  assert.deepEqual(others, []);
});

test('an invalid catalogue is refused with its file, the position and the remedy', () => {
  const changed = (change: object) => JSON.stringify({ plans: [sound, { ...sound, plan_id: 'other', ...change }] });
  const wrong: [string, RegExp][] = [
    ['{"plans": [\n{,}]}', /is not JSON .*line 2.*correct the file/],
    ['', /is not JSON/],
    ['[]', /the catalogue is \[\]; it must be object/],
    ['{}', /the catalogue has no plans; add it/],
    ['{"plans":[]}', /plans is \[\]/],
    ['{"plans":[null]}', /plans\[0\] is null; it must be object/],
    ['{"plans":[{}]}', /plans\[0\] has no plan_id; add it/],
    ['{"plans":{},"more":1}', /unknown property "more"; remove it|plans is \{\}; it must be array/],
    [changed({ name: '' }), /plans\[1\]\.name is ""/],
    [changed({ plan_id: 'a b' }), /plans\[1\]\.plan_id is "a b"; it must match/],
    [changed({ interval: 'week' }), /plans\[1\]\.interval is "week"; it must be one of "month", "year", null/],
    [changed({ checkout: 5 }), /plans\[1\]\.checkout is 5; it must be one of "none", "subscription", "contact_sales"/],
    [changed({ unit_amount: 8.5 }), /plans\[1\]\.unit_amount is 8\.5; it must be integer/],
    [changed({ unit_amount: '800' }), /plans\[1\]\.unit_amount is "800"; it must be integer/],
    [changed({ unit_amount: -1 }), /plans\[1\]\.unit_amount is -1; it must be >= 0/],
    [changed({ seats: 1e7 }), /plans\[1\]\.seats is 10000000/],
    [changed({ unlimted: true }), /plans\[1\] has the unknown property "unlimted"; remove it/],
    [changed({ currency: 'USD' }), /plans\[1\] \("other"\): currency "USD" is not known; use an ISO 4217 code/],
    [changed({ currency: 'zzz' }), /plans\[1\] \("other"\): currency "zzz" is not known/],
    [changed({ interval: null }), /plans\[1\] \("other"\): is a subscription, so set interval/],
    [changed({ unit_amount: 0 }), /plans\[1\] \("other"\): is a subscription, so set unit_amount/],
    [changed({ checkout: 'none' }), /plans\[1\] \("other"\): has checkout "none".*set unit_amount to 0/],
    [changed({ checkout: 'contact_sales' }), /plans\[1\] \("other"\): has checkout "contact_sales"/],
    [changed({ unlimited: true }), /plans\[1\] \("other"\): is unlimited, so set seats to 0/],
    [changed({ plan_id: 'crew' }), /plans\[1\] \("crew"\): has the plan_id of plans\[0\]; choose another/],
  ];
  for (const [text, words] of wrong) {
    const file = write(text);
    assert.throws(
      () => loadPlans(file),
      (error: Error) => {
        assert.ok(error.message.startsWith(`${file}: `), `Name the file first: ${error.message}`);
        assert.match(error.message, words, `Say where and what to do about ${text}`);
        return true;
      },
    );
  }
});

test('an unreadable catalogue is refused with the remedy', () => {
  assert.throws(
    () => loadPlans(join(folder, 'nowhere.json')),
    /nowhere\.json: cannot be read \(ENOENT\); set PLANS_FILE/,
  );
});
