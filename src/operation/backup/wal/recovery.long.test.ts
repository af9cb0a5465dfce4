import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from '../../../../test/process.ts';
import { until } from '../../../../test/until.ts';
import { type Client, makeDatabase } from '../../../../test/world.ts';
import { openDb } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { runBackupCommand } from '../../cli/backup.ts';
import { runDoctor } from '../../cli/doctor/doctor.ts';
import { readConfig } from '../../config.ts';

const folder = await makeFolder();
const BACKUP_KEY_FILE = join(folder, 'backup.key');
await writeFile(BACKUP_KEY_FILE, randomBytes(32).toString('hex'));
const backups = join(folder, 'backups');
const DATA_DIR = join(folder, 'data');
const env = { DATA_DIR, BACKUP_URL: `file://${backups}`, BACKUP_KEY_FILE, BACKUP_WAL: '7d' };
const port = await freePort();
const address = `http://127.0.0.1:${port}`;
const waiting = join(DATA_DIR, 'postgres-wal');

async function start(more: Record<string, string> = {}) {
  const service = spawnService({ ...env, PORT: String(port), ...more });
  await service.ready;
  return service;
}

let service = await start();
const world = worldOfProcess(address, { dataDir: DATA_DIR });
const owner = await world.owner();
const { wiki_id } = owner;
const pages = `/v1/wikis/${wiki_id}/pages`;

/** Runs a backup command of `ibid`. Returns its result and its output. */
async function ibid(more: Record<string, string>, ...args: string[]) {
  const lines: string[] = [];
  const isWhole = await runBackupCommand(readConfig({ ...env, ...more }), args, (line) => lines.push(line));
  return { isWhole, lines };
}

/** Makes PostgreSQL finish its current WAL segment, so that it is archived. */
async function finishSegment(): Promise<void> {
  const connection = { ...runningPostgres(DATA_DIR), user: SUPERUSER };
  const db = openDb({ connection, connections: 1, onConnectionLost: () => undefined });
  await db.query(sql`select pg_switch_wal()`);
  await db.close();
}

const segments = async () =>
  (await readdir(join(backups, 'wal'), { recursive: true })).filter((name) => /\/[0-9A-F]{24}$/.test(name)).sort();

/** Finishes a WAL segment and waits until it is stored. */
async function storeAll(): Promise<void> {
  const before = (await segments()).at(-1) ?? '';
  await finishSegment();
  await until(
    'the WAL is stored',
    async () => [await segments(), await readdir(waiting)] as const,
    ([stored, left]) => (stored.at(-1) ?? '') > before && left.length === 0,
  );
}

/** Returns a moment after all previous responses and before all later requests. */
async function now(): Promise<string> {
  const moment = Date.now() + 1;
  while (Date.now() <= moment) await delay(1);
  return new Date(moment).toISOString();
}

/** Everything that a reader sees of the wiki, and its audit events. */
async function seen(client: Client) {
  const { body: list } = await client.get(`${pages}?limit=100`);
  const texts = await Promise.all(
    list.map(async ({ page_id }: { page_id: string }) => (await client.get(`${pages}/${page_id}`)).body),
  );
  const { body: sources } = await client.get(`/v1/wikis/${wiki_id}/sources`);
  const { body: events } = await client.get(`/v1/workspaces/${owner.workspace_id}/audit-events?limit=100`);
  return { list, texts, sources, events };
}

const files = async (client: Client, name: string) => {
  const { body: sources } = await client.get(`/v1/wikis/${wiki_id}/sources`);
  const { source_id } = sources.find(({ filename }: { filename: string }) => filename === name);
  return (await client.get(`/v1/wikis/${wiki_id}/sources/${source_id}/content`)).body;
};

test('while the backup store is away writes continue, a kill loses no segment, and WAL is stored afterwards', async () => {
  await world.upload(owner, wiki_id, { 'a.md': '# A\n\nBefore the backup.\n' });
  const made = await ibid({}, 'backup');
  assert.ok(made.isWhole, made.lines.join('\n'));
  await world.upload(owner, wiki_id, { 'b.md': '# B\n\nAfter the backup.\n' });
  await rename(backups, `${backups}-away`);
  await writeFile(backups, '');
  const before = (await readdir(waiting)).length;
  for (const title of ['One', 'Two']) {
    assert.equal((await owner.post(pages, { title, markdown: 'x' })).status, 201);
    await finishSegment();
  }
  await until(
    'segments wait',
    async () => (await readdir(waiting)).length,
    (count) => count >= before + 2,
  );
  await until(
    'the log says so',
    async () => service.stdout(),
    (text) => /WAL cannot be stored/.test(text),
  );
  service.kill('SIGKILL');
  await service.ended;
  await rm(backups);
  await rename(`${backups}-away`, backups);
  service = await start();
  await finishSegment();
  await delay(Math.random() * 1_200);
  service.kill('SIGKILL');
  await service.ended;
  service = await start();
  await storeAll();
  const { isWhole, lines } = await ibid({}, 'verify-backup');
  assert.ok(isWhole, lines.join('\n'));
  assert.match(lines.at(-1) ?? '', /WAL segments; any moment from .* can be recovered/);
});

test('a restore to a moment has everything answered before it, with files, and nothing later', async () => {
  await owner.post(pages, { title: 'Early', markdown: 'x' });
  const [moment, before] = [await now(), await seen(owner)];
  const titles = before.list.map(({ title }: { title: string }) => title);
  assert.ok(
    ['One', 'Two', 'Early'].every((title) => titles.includes(title)),
    'also what waited to be stored',
  );
  await owner.post(pages, { title: 'Late', markdown: 'x' });
  await owner.send('DELETE', `${pages}/${before.list[0].page_id}`);
  await storeAll();

  const restored = { DATA_DIR: join(await makeFolder(), 'data') };
  const { lines: printed } = await ibid(restored, 'restore', '--at', moment);
  assert.match(printed.join('\n'), /restored as of .* with 2 files\nJobs and mail are paused/);
  const otherPort = await freePort();
  const copy = spawnService({ ...env, ...restored, PORT: String(otherPort) });
  await copy.ready;
  using again = worldOfProcess(`http://127.0.0.1:${otherPort}`, { dataDir: restored.DATA_DIR });
  const reader = again.as(owner.token);
  assert.deepEqual(await seen(reader), before);
  assert.match(JSON.stringify(await files(reader, 'b.md')), /After the backup/);
  assert.equal((await again.db.query(sql`select 1 from service_controls where jobs_are_paused`)).length, 1);
  copy.kill('SIGTERM');
  assert.equal((await copy.ended).code, 0);
  await assert.rejects(ibid(restored, 'restore', '--at', moment), /has a database: set a new DATA_DIR/);
});

test('a flipped bit in a base backup or segment, and a missing segment, are found and named', async () => {
  const [id = ''] = await readdir(join(backups, 'backups'));
  const stored = await segments();
  const middle = `wal/${stored.at(-2)}`;
  const objects = [`backups/${id}/base/archive`, `backups/${id}/base/manifest`, middle];
  const wholes = await Promise.all(objects.map((object) => readFile(join(backups, object))));
  for (const [index, whole] of wholes.entries()) {
    const at = Math.floor(Math.random() * whole.length);
    const damaged = Buffer.from(whole).fill((whole[at] ?? 0) ^ 4, at, at + 1);
    await writeFile(join(backups, objects[index] ?? ''), damaged);
  }
  const { isWhole, lines: found } = await ibid({}, 'verify-backup');
  assert.deepEqual([isWhole, found.map((line) => line.split(':')[0]).sort()], [false, objects.toSorted()]);
  for (const at of [0, 1]) await writeFile(join(backups, objects[at] ?? ''), wholes[at] ?? '');
  const restored = { DATA_DIR: join(await makeFolder(), 'data') };
  await assert.rejects(ibid(restored, 'restore', '--at', 'latest'), /was altered|not encrypted/);
  await rm(join(backups, middle));
  const { lines } = await ibid({}, 'verify-backup');
  assert.deepEqual(lines, [`${middle}: it is missing`]);
  await assert.rejects(
    ibid({ DATA_DIR: join(await makeFolder(), 'data') }, 'restore', '--at', await now()),
    new RegExp(`ends at .* because ${middle} is missing`),
  );
  await writeFile(join(backups, middle), wholes[2] ?? '');
});

test('a lost segment is detected, the doctor asks for a backup, and recovery continues from that backup', async () => {
  const doctor = async () => {
    const lines: string[] = [];
    await runDoctor(env, [], (line) => lines.push(line));
    return lines.join('\n');
  };
  assert.match(await doctor(), /^ok +wal: WAL is stored until/m);
  service.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
  for (const name of await readdir(waiting)) await rm(join(waiting, name));
  service = await start();
  await storeAll();
  assert.match(await doctor(), /^problem +wal: WAL was lost before it was stored.*\n +→ run "ibid backup"/m);
  await assert.rejects(
    ibid({}, 'verify-backup').then(({ isWhole, lines }) => assert.ok(isWhole, lines.join())),
    /it is missing/,
  );
  await ibid({}, 'backup');
  assert.match(await doctor(), /^ok +wal: /m);
  service.kill('SIGTERM');
  await service.ended;
});

test('the option is refused with advice if DATABASE_URL or SERVICE_DATABASE_URL names the PostgreSQL', async () => {
  const url = await makeDatabase();
  for (const external of [{ DATABASE_URL: url }, { SERVICE_DATABASE_URL: url }]) {
    assert.throws(
      () => readConfig({ ...env, ...external }),
      /BACKUP_WAL works only with the service's own PostgreSQL.*pgBackRest/,
    );
  }
  assert.throws(() => readConfig({ ...env, BACKUP_WAL: '7' }), /how many days back/);
});
