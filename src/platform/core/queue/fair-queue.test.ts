import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FairQueue, type FairQueueOptions, type Turn } from './fair-queue.ts';

const settled = () => new Promise(setImmediate);

interface Work {
  tenant: string;
  ms: number;
  rank?: number;
  context?: string;
}

function open(options: Partial<FairQueueOptions> = {}): FairQueue {
  return new FairQueue({ tenant: 1, all: 1, refusal: () => new Error('refused'), ...options });
}

/** Queues all work while one turn is held, then runs it. Returns the work in the order in which it ran. */
async function order(queue: FairQueue, all: Work[]): Promise<Work[]> {
  const first = await queue.enter('first');
  const ran: Work[] = [];
  const running = all.map(async (work) => {
    const turn = await queue.enter(work.tenant, undefined, { cost: 1, rank: work.rank ?? 0 });
    ran.push(work);
    queue.leave(turn, work.ms);
  });
  queue.leave(first);
  await Promise.all(running);
  return ran;
}

const many = (count: number, tenant: string, ms: number): Work[] =>
  Array.from({ length: count }, () => ({ tenant, ms }));

test('a tenant with one entry waits for at most one entry of a busy tenant, whenever it arrives', async () => {
  for (const before of [0, 1, 50]) {
    const queue = open();
    const held = await queue.enter('many');
    const tenants: string[] = [];
    const run = async (tenant: string, ms: number) => {
      const turn = await queue.enter(tenant);
      tenants.push(tenant);
      queue.leave(turn, ms);
      if (tenants.length === before) single = run('single', 5);
    };
    let single: Promise<void> | undefined;
    const all = Array.from({ length: 100 }, () => run('many', 1_000));
    if (before === 0) single = run('single', 5);
    queue.leave(held, 1_000);
    await Promise.all(all);
    await single;
    assert.ok(tenants.indexOf('single') <= before + 2, `after ${before}: ${tenants.indexOf('single')}`);
  }
});

test('tenants get equal CPU time, not equal numbers of turns', async () => {
  const ran = await order(open(), [...many(100, 'heavy', 100), ...many(100, 'light', 10)]);
  assert.equal(ran.slice(0, 55).filter(({ tenant }) => tenant === 'heavy').length, 5);
});

test('saves of a tenant run before its previews, and ranks do not affect the turns of other tenants', async () => {
  const work = (tenant: string, rank: number, context: string): Work => ({ tenant, ms: 1, rank, context });
  const ran = await order(open(), [
    work('a', 1, 'preview'),
    work('a', 0, 'save 1'),
    work('a', 0, 'save 2'),
    work('b', 1, 'of b'),
  ]);
  assert.deepEqual(
    ran.map(({ context }) => context),
    ['save 1', 'of b', 'save 2', 'preview'],
  );
});

test('no tenant exceeds its own or the total cost, no entry is lost, and an aborted entry never runs', async () => {
  const entries = fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), cost: fc.integer({ min: 1, max: 5 }) });
  const steps = fc.array(fc.oneof(entries, fc.constantFrom('leave', 'abort')), { maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 6 }),
      async (all, tenant, most) => {
        const queue = open({ tenant, all: most });
        const waiting = new Set<AbortController>();
        const running: Turn[] = [];
        const costOf = (turns: Turn[]) => turns.reduce((sum, { cost }) => sum + cost, 0);
        for (const step of all) {
          if (typeof step === 'object') {
            const gone = new AbortController();
            const entered = queue.enter(step.tenant, () => gone.signal, { cost: step.cost });
            if (entered instanceof Promise) {
              waiting.add(gone);
              void entered.then(
                (turn) => {
                  assert.ok(waiting.delete(gone));
                  running.push(turn);
                },
                () => assert.ok(gone.signal.aborted),
              );
            } else running.push(entered);
          } else if (step === 'leave') {
            const first = running.shift();
            if (first) queue.leave(first, 7);
          } else {
            const [first] = waiting;
            if (first) waiting.delete(first);
            first?.abort(new Error('gone'));
          }
          await settled();
          assert.deepEqual([queue.usage.used, queue.usage.waiting], [costOf(running), waiting.size]);
          assert.ok(running.length <= 1 || costOf(running) <= most);
          for (const name of ['a', 'b', 'c']) {
            const own = running.filter((turn) => turn.tenant === name);
            assert.ok(own.length <= 1 || costOf(own) <= tenant);
          }
        }
        for (let turn = running.shift(); turn; turn = running.shift()) {
          queue.leave(turn);
          await settled();
        }
        assert.deepEqual([queue.usage.used, queue.usage.waiting], [0, 0]);
      },
    ),
    { numRuns: 50 },
  );
});

test('entries of the same context run in succession when possible', async () => {
  const queue = open({ tenant: 1, all: 1 });
  const started: string[] = [];
  const enter = async (tenant: string, context: string) => {
    const turn = await queue.enter(tenant, undefined, { cost: 1, context });
    started.push(`${tenant} ${context}`);
    return turn;
  };
  const first = await enter('a', 'x');
  const others = [enter('b', ''), enter('a', 'y'), enter('a', 'x')] as const;
  queue.leave(first, 5, 'x');
  queue.leave(await others[2], 5, 'x');
  queue.leave(await others[0]);
  queue.leave(await others[1]);
  assert.deepEqual(started, ['a x', 'a x', 'b ', 'a y']);
});
