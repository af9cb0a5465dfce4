import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openFairQueue, type Queued } from './fair-queue.ts';

interface Work extends Queued {
  ms: number;
}

const work = (owner: string, ms = 1, rank = 0, context = ''): Work => ({ owner, ms, rank, context });

/** Runs all that waits in one process, in the order of the queue; returns whose turn it was. */
function order(queue: ReturnType<typeof openFairQueue<Work>>): string[] {
  const turns: string[] = [];
  for (let next = queue.take(); next; next = queue.take()) {
    turns.push(next.owner);
    queue.done(next.owner, next.ms);
  }
  return turns;
}

test('who has one thing waiting comes after at most one of the hundred of another, whenever it comes', () => {
  for (const before of [0, 1, 50]) {
    const queue = openFairQueue<Work>(1);
    for (let i = 0; i < 100; i += 1) queue.add(work('many', 1_000));
    for (let i = 0; i < before; i += 1) {
      queue.take();
      queue.done('many', 1_000);
    }
    queue.add(work('single', 5));
    assert.ok(order(queue).indexOf('single') <= 1, `after ${before}`);
  }
});

test('owners get the same CPU time, and not the same number of turns', () => {
  const queue = openFairQueue<Work>(1);
  for (let i = 0; i < 100; i += 1) {
    queue.add(work('heavy', 100));
    queue.add(work('light', 10));
  }
  const turns = order(queue).slice(0, 55);
  assert.equal(turns.filter((owner) => owner === 'heavy').length, 5);
});

test('saves of an owner go before its previews, and its previews before nothing of others', () => {
  const queue = openFairQueue<Work>(1);
  queue.add(work('a', 1, 1, 'preview'));
  queue.add(work('a', 1, 0, 'save 1'));
  queue.add(work('a', 1, 0, 'save 2'));
  queue.add(work('b', 1, 1, 'of b'));
  const contexts: string[] = [];
  for (let next = queue.take(); next; next = queue.take()) {
    contexts.push(next.context);
    queue.done(next.owner, next.ms);
  }
  assert.deepEqual(contexts, ['save 1', 'of b', 'save 2', 'preview']);
});

test('an owner never runs more at a time than it may, nothing is lost, and what has left is never run', () => {
  const owners = fc.constantFrom('a', 'b', 'c');
  const steps = fc.array(fc.oneof(fc.record({ add: owners }), fc.constantFrom('take', 'done', 'leave')), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), (all, perOwner) => {
      const queue = openFairQueue<Work>(perOwner);
      const waiting = new Set<Work>();
      const running: Work[] = [];
      for (const step of all) {
        if (typeof step === 'object') {
          const added = work(step.add, 7);
          waiting.add(added);
          queue.add(added);
        } else if (step === 'take') {
          const taken = queue.take();
          const mayRun = [...waiting].some(
            ({ owner }) => running.filter((one) => one.owner === owner).length < perOwner,
          );
          assert.equal(taken !== undefined, mayRun);
          if (!taken) continue;
          assert.ok(waiting.delete(taken));
          running.push(taken);
        } else if (step === 'done') {
          const ended = running.shift();
          if (ended) queue.done(ended.owner, ended.ms);
        } else {
          const [first] = waiting;
          if (!first) continue;
          waiting.delete(first);
          assert.ok(queue.remove(first) && !queue.remove(first));
        }
        assert.equal(queue.length, waiting.size);
      }
    }),
  );
});

test('work of one context goes on in succession where it may', () => {
  const queue = openFairQueue<Work>(2);
  for (const context of ['x', 'y', 'x']) queue.add(work('a', 1, 0, context));
  queue.add(work('b'));
  const first = queue.take();
  assert.equal(first?.context, 'x');
  assert.equal(queue.take({ owner: 'a', context: 'x' })?.context, 'x');
  assert.equal(queue.take({ owner: 'a', context: 'x' })?.owner, 'b', 'it has nothing more of that context');
});
