import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { assertDurable } from './assert-durable.ts';
import { cleanUp } from './clean-up.ts';
import { extent } from './extent.ts';
import { openRestartableService, postgresIn, type ServiceProcess, worldOfProcess } from './process.ts';
import { signal } from './processes.ts';
import { randomNumbers } from './random-numbers.ts';
import { until } from './until.ts';
import { startWriters, type Writers } from './writers.ts';

/**
 * KILL_ROUNDS: number of kills of the service, of PostgreSQL and of both. KILL_SEED: repeats the random choices of an
 * earlier run.
 */
const ROUNDS = Number(process.env.KILL_ROUNDS || extent(3, 1));
const SEED = Number(process.env.KILL_SEED || randomInt(2 ** 31));
const WRITERS = 4;
/** A kill comes at most this many acknowledged writes after the previous kill, and a little later. */
const WRITES_MAX = 60;
const MORE_MS = 30;

test('no acknowledged write is lost or duplicated when the service or its PostgreSQL is killed under load', async (t) => {
  const random = randomNumbers(SEED);
  const { dataDir, address, start } = await openRestartableService();
  let service = await start();
  let writers: Writers;
  {
    using world = worldOfProcess(address, { dataDir });
    writers = startWriters(await Promise.all(Array.from({ length: WRITERS }, () => world.owner())));
  }
  cleanUp(() => writers.stop());
  const { ledger } = writers;

  const killPostgres = async () => {
    // PostgreSQL may still be restarting, and a newly forked child looks like a second postmaster.
    const one = (pids: number[]) => pids.length === 1;
    for (const pid of await until('one PostgreSQL on the DATA_DIR', () => postgresIn(dataDir), one)) {
      signal(pid, 'SIGKILL');
    }
  };
  const killService = async () => {
    writers.serviceIsUp(false);
    service.kill('SIGKILL');
    await service.ended;
  };
  const startAgain = async () => {
    service = await start();
    writers.serviceIsUp(true);
    // Kills by the test must not count as failures that a job or a file caused.
    using world = worldOfProcess(address, { dataDir });
    await world.db.query(sql`
      with counted as (update upload_files set attempts = 0) update jobs set failures = 0 where finished_at is null`);
  };
  const kills: Record<string, () => Promise<void>> = {
    'the service': () => killService().then(startAgain),
    'its PostgreSQL': killPostgres,
    both: async () => {
      await killPostgres();
      await killService();
      await startAgain();
    },
  };

  const writesReach = (goal: number, what: string) =>
    until(
      what,
      () => ({ acknowledged: ledger.acknowledged, isOver: service.isOver() }),
      ({ acknowledged, isOver }) => acknowledged >= goal || isOver,
    );

  const restarts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [what, kill] of Object.entries(kills)) {
      const goal = ledger.acknowledged + 1 + Math.floor(random() * WRITES_MAX);
      await writesReach(goal, `writes are acknowledged again, before ${what} is killed\n${tail(service)}`);
      await new Promise((resolve) => setTimeout(resolve, random() * MORE_MS));
      assert.ok(!service.isOver(), `The service must outlive its PostgreSQL, but ended: ${tail(service)}`);
      const began = performance.now();
      await kill();
      const before = ledger.acknowledged;
      await writesReach(before + 1, `an acknowledged write after ${what} was killed`);
      restarts.push(performance.now() - began);
    }
  }
  await writers.stop();

  using world = worldOfProcess(address, { dataDir });
  const { query } = world.db;
  await until(
    'every upload has ended',
    () =>
      query<{ upload_id: string; progress: number }>(sql`
      select upload_id, j.progress from uploads u left join jobs j using (upload_id) where u.finished_at is null`),
    (open) => open.length === 0,
  );
  await assertDurable(query, join(dataDir, 'blobs'), ledger);
  service.kill('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null }, tail(service));
  assert.deepEqual(await postgresIn(dataDir), [], 'An orderly stop must leave no PostgreSQL behind.');
  report(t, ledger, restarts);
});

function report(t: TestContext, ledger: Writers['ledger'], restarts: number[]): void {
  const uploads = ledger.uploads.filter((upload) => upload.upload_id).length;
  const times = restarts.sort((a, b) => a - b).map((time) => Math.round(time));
  t.diagnostic(
    `seed ${SEED}: ${3 * ROUNDS} kills; ${ledger.acknowledged} acknowledged writes (${uploads} uploads), 0 lost, 0 duplicated; ` +
      `${ledger.unavailable} answers 503, ${ledger.unanswered} requests without an answer; ` +
      `until the next acknowledged write: median ${times[times.length >> 1]} ms, longest ${times.at(-1)} ms`,
  );
}

function tail({ stdout, stderr }: ServiceProcess): string {
  return (stdout() + stderr()).slice(-2_000);
}
