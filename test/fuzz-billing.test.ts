import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { extent } from './extent.ts';
import { assertAgreement } from './fuzz/billing/agreement.ts';
import {
  type BilledWorkspace,
  forgetWorkspace,
  letPass,
  makeBilledWorkspace,
  readBilling,
} from './fuzz/billing/billed-workspace.ts';
import { assertCharged } from './fuzz/billing/charged-as-previewed.ts';
import { openFuzzedBilling } from './fuzz/billing/fuzzed-billing.ts';
import { pick, type Random, STEPS } from './fuzz/billing/steps.ts';
import { isOver, MINUTES } from './fuzz/run-cases.ts';
import { randomNumbers } from './random-numbers.ts';

/**
 * Many workspaces at once pay at the Stripe stand-in under every event that can occur. BILLING_SCHEDULES and
 * BILLING_CHANGES set the number of cases (`npm run test:long -- billing`), FUZZ_MINUTES the duration (`npm run fuzz --
 * --only=billing`); without either, only a few cases run. A failure prints the seed of its workspace; FUZZ_SEED repeats
 * that workspace alone.
 */
const SEED = process.env.FUZZ_SEED ? Number(process.env.FUZZ_SEED) : undefined;
const IS_COUNTED = process.env.BILLING_SCHEDULES !== undefined || process.env.BILLING_CHANGES !== undefined;
const SCHEDULES = Number(process.env.BILLING_SCHEDULES ?? (IS_COUNTED ? 0 : extent(6, 2)));
const CHANGES = Number(process.env.BILLING_CHANGES ?? (IS_COUNTED ? 0 : extent(6, 2)));
const IS_LONG = IS_COUNTED || MINUTES > 0;
const FIXED_SEED = 20_261_125;
const FIRST_SEED = SEED ?? (IS_LONG ? Date.now() % 1_000_000_000 : FIXED_SEED);

const LANES = SEED !== undefined ? 1 : IS_LONG ? 32 : 3;
/** Schedules that one workspace runs in sequence, so that they begin in any state. */
const SCHEDULES_OF_ONE = IS_LONG ? 10 : 2;
const STEPS_OF_ONE = 12;
const CHANGES_OF_ONE = IS_LONG ? 20 : 2;
/** Schedules between two kills of the service. */
const CRASH_EVERY = IS_LONG ? 1_000 : 4;
const PROGRESS_EVERY = 100;
const TIMEOUT_MS = 24 * 3_600_000;
const FAILURES_MAX = 10;

const billing = await openFuzzedBilling();

interface Work {
  count: number;
  ofOne: number;
  /** When to end a timed run, as a fraction of its duration. */
  until: number;
  /** Runs the next case of a workspace; returns 1 if it counts as a case, else 0. */
  run(it: BilledWorkspace, random: Random): Promise<number>;
  afterCase?(done: number): void;
}

/** Runs cases in several workspaces at once until the count or the time is reached. Throws if any case failed. */
async function runInLanes(t: TestContext, { count, ofOne, until, run, afterCase }: Work): Promise<void> {
  let done = 0;
  let seed = FIRST_SEED;
  const failures: string[] = [];
  const isEnough = () =>
    failures.length >= FAILURES_MAX || (SEED !== undefined ? seed > SEED : MINUTES > 0 ? isOver(until) : done >= count);
  async function lane(): Promise<void> {
    while (!isEnough()) {
      const own = seed++;
      const random = randomNumbers(own);
      const it = await makeBilledWorkspace(billing);
      try {
        for (let index = 0; index < ofOne && !isOver(until); index += 1) {
          const counted = await run(it, random);
          done += counted;
          if (counted > 0 && done % PROGRESS_EVERY === 0) process.stderr.write(`${done} are done\n`);
          afterCase?.(done);
        }
      } catch (error) {
        const told = `--seed=${own}: ${it.done.join(' ')}\n${(error as Error).stack}`;
        process.stderr.write(`${told}\n\n`);
        failures.push(told);
      } finally {
        forgetWorkspace(it);
      }
    }
  }
  t.diagnostic(`seed ${FIRST_SEED}`);
  await Promise.all(Array.from({ length: LANES }, lane));
  t.diagnostic(`${done} cases, ${seed - FIRST_SEED} workspaces, ${failures.length} failures`);
  assert.deepEqual(failures, []);
}

test('Stripe and the service agree after any schedule of members, payments, plans, lost events, faults and crashes', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const names = Object.keys(STEPS);
  let crashes = 0;
  await runInLanes(t, {
    count: SCHEDULES,
    ofOne: SCHEDULES_OF_ONE,
    until: 0.7,
    async run(it, random) {
      if (it.done.length === 0) await STEPS.checkout?.(it, random);
      for (let index = 0; index < STEPS_OF_ONE; index += 1) {
        const name = pick(names, random) ?? '';
        it.done.push(name);
        await STEPS[name]?.(it, random);
      }
      it.done.push('|');
      await assertAgreement(it);
      return 1;
    },
    afterCase(done) {
      if (Math.floor(done / CRASH_EVERY) <= crashes) return;
      crashes += 1;
      void billing.crash();
    },
  });
  assert.ok(SCHEDULES === 0 || SEED !== undefined || crashes > 0, 'the service was killed');
});

test('a change is charged exactly as previewed: prorations, taxes, discounts and credits, in each currency', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  await runInLanes(t, {
    count: CHANGES,
    ofOne: CHANGES_OF_ONE,
    until: 1,
    async run(it, random) {
      const [customer] = it.customers();
      if (!customer) {
        const plan = pick(
          billing.plans.filter(({ checkout }) => checkout === 'subscription'),
          random,
        );
        await it.billing.whenUp(() => it.post('checkout', { plan_id: plan?.plan_id }));
        const [session] = [...billing.stripe.account.sessions.values()].filter(
          (one) => one.customer === it.customers()[0]?.id,
        );
        billing.stripe.account.complete(session?.id ?? '');
        await billing.settle(it.owner.workspace_id);
        return 0;
      }
      Object.assign(customer, {
        tax_percent: pick([0, 5.5, 7, 8.875, 19, 25], random),
        tax_behavior: random() < 0.3 ? 'inclusive' : 'exclusive',
        discount_percent: random() < 0.3 ? Math.floor(random() * 60) : 0,
        ...(random() < 0.3 && { balance: Math.floor(random() * 40_000) - 20_000 }),
      });
      await letPass(it, Math.floor(random() * (random() < 0.1 ? 60 : 12) * 86_400));
      if (random() < 0.4) await STEPS.join?.(it, random);
      if (random() < 0.2) await STEPS.leave?.(it, random);
      await billing.settle(it.owner.workspace_id);
      const { plan_id, currency } = await readBilling(it);
      const others = billing.plans.filter((plan) => plan.currency === currency && plan.checkout === 'subscription');
      const next = pick(
        others.filter((plan) => plan.plan_id !== plan_id),
        random,
      );
      it.done.push(`${plan_id}→${next?.plan_id}`);
      const isMade = await assertCharged(it, next?.plan_id ?? '');
      return isMade ? 1 : 0;
    },
  });
});
