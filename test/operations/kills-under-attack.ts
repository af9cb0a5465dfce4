import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fillWiki } from '../../bench/isolation/fill-wiki.ts';
import type { Order } from '../../bench/isolation/misbehave.process.ts';
import { MISBEHAVIOURS } from '../../bench/isolation/misbehaviours.ts';
import { pidsBelow } from '../../bench/processes.ts';
import { sql } from '../../src/platform/db/sql.ts';
import { assertDurable } from '../assert-durable.ts';
import { cleanUp } from '../clean-up.ts';
import { openRestartableService, postgresIn, worldOfProcess } from '../process.ts';
import { signal } from '../processes.ts';
import { randomNumbers } from '../random-numbers.ts';
import { until } from '../until.ts';
import { startWriters } from '../writers.ts';

/** ATTACK_KILLS: number of processes to kill in each attack. ATTACKS: runs only attacks whose name contains this. */
const KILLS = Number(process.env.ATTACK_KILLS || 10);
const ATTACKS = MISBEHAVIOURS.filter(({ name }) => name.includes(process.env.ATTACKS ?? ''));
const SEED = Number(process.env.KILL_SEED || randomInt(2 ** 31));
const PAGES = 5_000;
const WRITERS = 2;
/** Maximum pause before the next kill. */
const PAUSE_MS = 2_000;

const OFFENDER = fileURLToPath(new URL('../../bench/isolation/misbehave.process.ts', import.meta.url));

for (const { name, pages = 0 } of ATTACKS) {
  test(`no acknowledged write is lost when any process is killed during an attack: ${name}`, async (t) => {
    const random = randomNumbers(SEED);
    const { dataDir, address, start } = await openRestartableService();
    let service = await start();
    cleanUp(() => service.kill('SIGKILL'));
    using world = worldOfProcess(address, { dataDir });
    const [offender, ...owners] = await Promise.all(Array.from({ length: 1 + WRITERS }, () => world.owner()));
    assert.ok(offender?.token);
    if (pages > 0) await fillWiki(dataDir, offender.wiki_id, Math.ceil(pages * PAGES));
    const attack = fork(OFFENDER);
    cleanUp(() => attack.kill('SIGKILL'));
    const { token, workspace_id, wiki_id } = offender;
    attack.send({ kind: 'begin', name, address, token, workspace_id, wiki_id } satisfies Order);
    const writers = startWriters(owners);
    cleanUp(() => writers.stop());
    const { ledger } = writers;
    const wikis = owners.map((owner) => owner.wiki_id);
    /** Resets failures: kills by the test must not count against a file, whose third failure would be final. */
    const forgive = () =>
      until(
        'the database answers',
        async () => {
          using again = worldOfProcess(address, { dataDir });
          const counted = again.db.query(sql`
            with counted as (update upload_files set attempts = 0 where wiki_id = any(${wikis}))
            update jobs set failures = 0 where finished_at is null and wiki_id = any(${wikis})`);
          // The database may be recovering from a kill.
          return counted.then(() => 'done', String);
        },
        (seen) => seen === 'done',
      );
    /** Between two starts, the service may end only by a kill of the test. */
    const killed = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await delay(random() * PAUSE_MS);
      assert.ok(!service.isOver(), `The service must live, but ended: ${service.stderr().slice(-2_000)}`);
      const below = pidsBelow(service.pid);
      const isMain = random() < 0.2 || below.length === 0;
      const pid = isMain ? service.pid : (below[Math.floor(random() * below.length)] ?? service.pid);
      const what = isMain ? 'the service' : 'a process below it';
      killed.set(what, (killed.get(what) ?? 0) + 1);
      const before = ledger.acknowledged;
      if (isMain) {
        writers.serviceIsUp(false);
        service.kill('SIGKILL');
        await service.ended;
        service = await start();
        writers.serviceIsUp(true);
      } else signal(pid, 'SIGKILL');
      await until(
        `an acknowledged write after ${what} was killed`,
        () => ledger.acknowledged,
        (now) => now > before,
      );
      await forgive();
    }
    attack.kill('SIGKILL');
    await writers.stop();
    await until(
      'the uploads of the writers have ended',
      async () => {
        using again = worldOfProcess(address, { dataDir });
        return again.db.query(sql`
          select upload_id, j.progress from uploads u left join jobs j using (wiki_id, upload_id)
          where u.finished_at is null and u.wiki_id = any(${wikis})`);
      },
      (open) => open.length === 0,
    );
    {
      using again = worldOfProcess(address, { dataDir });
      await assertDurable(again.db.query, join(dataDir, 'blobs'), ledger);
    }
    service.kill('SIGTERM');
    assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr().slice(-2_000));
    assert.deepEqual(await postgresIn(dataDir), [], 'An orderly stop must leave no PostgreSQL behind.');
    t.diagnostic(
      `seed ${SEED}: ${JSON.stringify(Object.fromEntries(killed))} killed; ${ledger.acknowledged} acknowledged writes, 0 lost; ` +
        `${ledger.unavailable} answers 503, ${ledger.unanswered} requests without an answer`,
    );
  });
}
