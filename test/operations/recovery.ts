import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { openDb } from '../../src/platform/db/db.ts';
import { sql } from '../../src/platform/db/sql.ts';
import { freePort, makeFolder, type ServiceProcess, spawnService, worldOfProcess } from '../process.ts';
import { untilWalIsStored } from '../stored-wal.ts';

/** RECOVERY_MOMENTS: number of moments to recover. RECOVERY_SECONDS: duration of the writes. */
const MOMENTS = Number(process.env.RECOVERY_MOMENTS || 50);
const SECONDS = Number(process.env.RECOVERY_SECONDS || 120);
const WRITERS = 4;
const KILL_EVERY_MS = 8_000;
const IBID = new URL('../../src/operation/cli/ibid.ts', import.meta.url).pathname;

const folder = await makeFolder();
const BACKUP_KEY_FILE = join(folder, 'backup.key');
await writeFile(BACKUP_KEY_FILE, randomBytes(32).toString('hex'));
const port = await freePort();
const backups = join(folder, 'backups');
const options = { BACKUP_URL: `file://${backups}`, BACKUP_KEY_FILE, BACKUP_WAL: '7d' };
let DATA_DIR = join(folder, 'data');

async function start(): Promise<ServiceProcess> {
  const service = spawnService({ ...options, DATA_DIR, PORT: String(port) });
  await service.ready;
  return service;
}

async function ibid(dataDir: string, ...args: string[]): Promise<string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...options, DATA_DIR: dataDir };
  return (await promisify(execFile)(process.execPath, [IBID, ...args], { env })).stdout;
}

/** Kills a restore, which must leave no data and can be repeated. Returns 1, or 0 if it had already ended. */
async function killedRestore(target: string, moment: number): Promise<number> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...options, DATA_DIR: target };
  const at = new Date(moment).toISOString();
  const child = spawn(process.execPath, [IBID, 'restore', '--at', at], { env, stdio: 'ignore' });
  const ended = once(child, 'close');
  await delay(500 + Math.random() * 4_000);
  child.kill('SIGKILL');
  if ((await ended)[1] === 'SIGKILL') return 1;
  await rm(target, { recursive: true });
  return 0;
}

/** Kills a backend, which makes PostgreSQL end all sessions and recover. Returns the number of killed backends. */
async function killBackend(): Promise<number> {
  const db = openDb({ connection: runningPostgres(DATA_DIR) ?? {}, connections: 1, onConnectionLost: () => undefined });
  const [row] = await db.query<{ pid: number }>(sql`select pg_backend_pid() as pid`).catch(() => []);
  if (row) process.kill(row.pid, 'SIGKILL');
  await db.close();
  return row ? 1 : 0;
}

interface Written {
  title: string;
  /** Milliseconds since the epoch, before the request and after its answer. */
  sent: number;
  answered: number;
}

test('any moment is recovered exactly, under writes, kills of service and database, and after a restore', async (t) => {
  let service = await start();
  using world = worldOfProcess(`http://127.0.0.1:${port}`, { dataDir: DATA_DIR });
  const owner = await world.owner();
  const written: Written[] = [];
  let unknown = 0;
  let isOver = false;
  let isPaused = false;
  let kills = 0;
  const first = Date.now();
  await ibid(DATA_DIR, 'backup');
  const begin = Date.now();

  async function write(writer: number): Promise<void> {
    for (let count = 0; !isOver; count += 1) {
      if (isPaused) {
        await delay(20);
        continue;
      }
      const title = `w${writer}n${count}`;
      const sent = Date.now();
      const form = new FormData();
      form.append('files', new Blob([`# ${title}\n\n${'text '.repeat(50)}\n`]), `${title}.md`);
      const request =
        count % 5 === 0
          ? owner.send('POST', `/v1/wikis/${owner.wiki_id}/uploads`, { body: form })
          : owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title, markdown: 'x' });
      const answer = await request.catch(() => undefined);
      if (answer && answer.status < 300) written.push({ title, sent, answered: Date.now() + 1 });
      else unknown += 1;
      await delay(answer ? Math.random() * 60 : 200);
    }
  }

  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  const hasEnded = () => Date.now() - begin > SECONDS * 1_000;
  let isMoved = false;
  for (let round = 0; !hasEnded(); round += 1) {
    await delay(Math.random() * KILL_EVERY_MS);
    if (round % 3 === 1) {
      kills += await killBackend();
      continue;
    }
    if (!isMoved && Date.now() - begin > SECONDS * 500) {
      // The machine is lost, and another one continues from the stored backup.
      isPaused = true;
      await delay(2_000);
      await untilWalIsStored(DATA_DIR, backups);
      service.kill('SIGKILL');
      await service.ended;
      const next = join(folder, 'next');
      await ibid(next, 'restore', '--at', 'latest');
      DATA_DIR = next;
      service = await start();
      await ibid(DATA_DIR, 'resume');
      isMoved = true;
      isPaused = false;
      await delay(3_000);
      await ibid(DATA_DIR, 'backup');
      continue;
    }
    service.kill('SIGKILL');
    await service.ended;
    kills += 1;
    service = await start();
  }
  isOver = true;
  await Promise.all(writers);
  const end = Date.now();
  await untilWalIsStored(DATA_DIR, backups);
  service.kill('SIGTERM');
  await service.ended;
  t.diagnostic(
    `${written.length} writes in ${Math.round((end - first) / 1_000)} s, ${unknown} unanswered, ${kills} kills`,
  );
  t.diagnostic((await ibid(DATA_DIR, 'verify-backup')).trim());
  const sizes = await Promise.all(
    (await readdir(join(backups, 'wal'), { recursive: true }))
      .filter((name) => /\/[0-9A-F]{24}$/.test(name))
      .map(async (name) => (await stat(join(backups, 'wal', name))).size),
  );
  t.diagnostic(`${sizes.length} segments of WAL take ${Math.round(sizes.reduce((a, b) => a + b, 0) / 1_024)} KiB`);

  const durations: number[] = [];
  let compared = 0;
  let restoresKilled = 0;
  for (let round = 0; round < MOMENTS; round += 1) {
    const moment = begin + Math.floor(Math.random() * (end - begin));
    const target = join(folder, 'recovered');
    if (round % 5 === 0) restoresKilled += await killedRestore(target, moment);
    const started = performance.now();
    await ibid(target, 'restore', '--at', new Date(moment).toISOString());
    durations.push(performance.now() - started);
    const postgres = await startPostgres({ dataDir: target, log: () => undefined });
    const db = openDb({ connection: postgres.connection, connections: 1 });
    const rows = await db.query<{ title: string }>(sql`
      select title from pages union select replace(filename, '.md', '') from upload_files`);
    await db.close();
    await postgres.stop();
    const there = new Set(rows.map(({ title }) => title));
    const lost = written.filter(({ title, answered }) => answered <= moment && !there.has(title));
    const later = written.filter(({ title, sent }) => sent > moment && there.has(title));
    assert.deepEqual([lost, later], [[], []], new Date(moment).toISOString());
    compared += written.filter(({ sent, answered }) => answered <= moment || sent > moment).length;
    await rm(target, { recursive: true });
  }
  durations.sort((a, b) => a - b);
  t.diagnostic(
    `${MOMENTS} moments are exact: ${compared} writes compared, ${restoresKilled} restores killed before; a restore took ${Math.round(durations[MOMENTS >> 1] ?? 0)} ms (median), ${Math.round(durations.at(-1) ?? 0)} ms (longest)`,
  );
});
