import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import type { ServiceDb } from '../../platform/db/db.ts';
import type { WorkerProcess } from '../../platform/jobs/worker.ts';
import { NOTHING_SPENT, openRenderingStats } from '../../platform/sandbox/rendering/stats.ts';
import { superviseWorker } from './supervised-worker.ts';
import { REPORT_MS } from './worker-messages.ts';

/** A program that reports whenever it is woken, without a database. */
const REPORTING = `process.on('message', ({ kind }) => {
  if (kind === 'wake') process.send({ kind: 'report', spent: ${JSON.stringify(NOTHING_SPENT)} });
});`;

interface Supervised {
  worker: WorkerProcess;
  started: ChildProcess[];
  pass(ms: number): void;
}

/** Supervises processes that run this program, with a mocked clock. */
function supervise(t: TestContext, program: string): Supervised {
  const started: ChildProcess[] = [];
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const fork = () => {
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    started.push(child);
    return child;
  };
  const needs = { connection: undefined, rendering: openRenderingStats(), onAttempt: undefined };
  const log = pino({ level: 'silent' });
  // `db` is used only for jobs of a process that has claimed some.
  const worker = superviseWorker({ ...needs, fork, log, db: {} as ServiceDb }, (stop) => t.after(stop));
  return {
    worker,
    started,
    pass(ms) {
      now += ms;
    },
  };
}

async function endOf(child: ChildProcess | undefined): Promise<unknown> {
  if (!child) throw new Error('no process was started');
  return child.exitCode ?? child.signalCode ?? (await once(child, 'exit'));
}

test('the pause before a restart doubles after each crash, up to a minute, and resets after a minute of life', async (t) => {
  const { worker, started, pass } = supervise(t, 'process.on("message", () => process.exit(3))');
  const waits = async (seconds: number) => {
    const count = started.length;
    await endOf(started.at(-1));
    pass(seconds * 1_000 - 1);
    worker.start();
    assert.equal(started.length, count, `nothing is started before ${seconds} s are over`);
    pass(1);
    worker.start();
    assert.equal(started.length, count + 1, `a process is started after ${seconds} s`);
    worker.start();
    assert.equal(started.length, count + 1, 'and no other one beside it');
  };
  worker.start();
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) await waits(seconds);
  pass(60_001);
  await waits(1);
});

test('a process that misses a hundred reports in a row is killed, and a reporting process is not', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { worker, started } = supervise(t, REPORTING);
  worker.start();
  const [child] = started;
  for (let i = 0; i < 3; i += 1) {
    t.mock.timers.tick(100 * REPORT_MS);
    const reported = once(child as ChildProcess, 'message');
    worker.wake();
    await reported;
  }
  assert.equal(child?.killed, false);
  t.mock.timers.tick(101 * REPORT_MS);
  await endOf(child);
  assert.equal(child?.signalCode, 'SIGKILL');
});
