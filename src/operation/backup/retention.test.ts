import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { backupDueSince, readBackupRetention, readBackupSchedule } from '../../platform/core/backup-plan.ts';
import type { Objects } from '../../platform/providers/storage/objects.ts';
import { openBackupStore } from './backup-store.ts';
import type { Manifest } from './manifest.ts';
import { pruneBackups } from './prune-backups.ts';
import { backupsToKeep } from './retention.ts';
import { followWal, segmentName, segmentOf } from './wal/segments.ts';
import { openWalStore } from './wal/wal-store.ts';

const madeAt = (made_at: string, missing: string[] = []) => ({ backup_id: made_at, made_at, files: { missing } });
const daysOf2026 = Array.from({ length: 120 }, (_, day) =>
  madeAt(new Date(Date.UTC(2026, 0, 1 + day, 2)).toISOString()),
);

test('the latest backups of recent days, weeks and months are kept, however many a day has', () => {
  const twice = daysOf2026.flatMap((one) => [one, madeAt(one.made_at.replace('T02', 'T01'))]);
  const kept = [...backupsToKeep(twice, { daily: 3, weekly: 3, monthly: 3 })].sort();
  // 30 April 2026 is a Thursday.
  assert.deepEqual(
    kept.map((id) => id.slice(5, 13)),
    ['02-28T02', '03-31T02', '04-19T02', '04-26T02', '04-28T02', '04-29T02', '04-30T02'],
  );
});

test('the latest backup and the latest backup without missing files are always kept', () => {
  const [first, ...rest] = daysOf2026;
  const kept = backupsToKeep(
    [first, ...rest.map((one) => madeAt(one.made_at, ['lost']))].flatMap((one) => one ?? []),
    {
      daily: 1,
      weekly: 0,
      monthly: 0,
    },
  );
  assert.deepEqual([...kept].sort(), [first?.backup_id, daysOf2026.at(-1)?.backup_id]);
});

test('a schedule is a time of day or a number of hours, and defines since when a backup is due', () => {
  const at = (time: string) => Date.parse(`2026-05-10T${time}:00Z`) / 1_000;
  const daily = readBackupSchedule('02:30');
  assert.ok(daily);
  assert.equal(backupDueSince(daily, at('02:30')), at('02:30'));
  assert.equal(backupDueSince(daily, at('02:29')), at('02:30') - 86_400);
  assert.deepEqual(readBackupSchedule('6h'), { everySeconds: 21_600 });
  assert.deepEqual(readBackupRetention('daily=7, weekly=4'), { daily: 7, weekly: 4, monthly: 0 });
  for (const wrong of ['24:00', '0h', 'daily', '6']) assert.throws(() => readBackupSchedule(wrong), /such as 02:30/);
  for (const wrong of ['7', 'daily=0', 'yearly=1']) assert.throws(() => readBackupRetention(wrong), /such as daily=7/);
});

/** A store in memory that fails after a number of removals, like a process that is killed. */
function openMemory(stored: Map<string, string>, removals = Number.POSITIVE_INFINITY): Objects {
  let left = removals;
  return {
    put: async (name, content) => void stored.set(name, await text(content.setEncoding('latin1'))),
    async stream(name) {
      const content = stored.get(name);
      if (content === undefined) throw Object.assign(new Error('no such object'), { code: 'ENOENT' });
      return Readable.from([Buffer.from(content, 'latin1')]);
    },
    has: async (name) => stored.has(name),
    async *list(folder) {
      yield* [...stored.keys()].filter((name) => name.startsWith(folder));
    },
    async remove(name) {
      left -= 1;
      if (left < 0) throw new Error('killed');
      stored.delete(name);
    },
    close: () => undefined,
  };
}

const sha = (digits: string) => digits.repeat(64).slice(0, 64);

/** Three daily backups. One file is in all of them, and each has a file of its own. */
async function threeBackups(key?: Buffer): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  const store = openBackupStore(openMemory(stored), key);
  for (const day of [1, 2, 3]) {
    const backup_id = `2026010${day}T000000Z-aaaaaa`;
    const files = [sha('f'), sha(String(day))];
    for (const sha256 of files) await store.write(store.fileName(sha256), Readable.from([Buffer.from(sha256)]));
    const list = await store.write(
      `backups/${backup_id}/files`,
      Readable.from([gzipSync(files.map((sha256) => `${sha256}\n`).join(''))]),
    );
    await store.write(`backups/${backup_id}/tables/users`, Readable.from([gzipSync('')]));
    const made_at = `2026-01-0${day}T00:00:00.000Z`;
    const about = { format: 1, postgres_version: '18', migrations: [], tables: [] } as const;
    const manifest: Manifest = {
      ...about,
      migrations: [],
      tables: [],
      backup_id,
      made_at,
      files: { list, count: 2, byte_size: 0, missing: [] },
    };
    await store.complete(manifest);
  }
  return stored;
}

const ONE_DAY = { daily: 1, weekly: 0, monthly: 0 };

test('a prune killed at any moment leaves whole backups, and the next prune finishes', async () => {
  const key = Buffer.alloc(32, 7);
  const all = await threeBackups(key);
  for (let removals = 0; ; removals += 1) {
    const stored = new Map(all);
    const killed = await pruneBackups(openBackupStore(openMemory(stored, removals), key), ONE_DAY).catch(
      () => 'killed',
    );
    const store = openBackupStore(openMemory(stored), key);
    const ids = await store.list();
    assert.equal(ids.at(-1)?.slice(0, 8), '20260103', 'the latest is there');
    for (const id of ids) {
      for (const digit of ['f', id.slice(7, 8)]) assert.ok(stored.has(store.fileName(sha(digit))), `${id} ${digit}`);
    }
    await store.removeUnfinished();
    await pruneBackups(store, ONE_DAY);
    const names = ['files', 'manifest', 'tables/users'].map((name) => `backups/20260103T000000Z-aaaaaa/${name}`);
    const files = ['3', 'f'].map((digit) => store.fileName(sha(digit)));
    assert.deepEqual([...stored.keys()].sort(), [...names, ...files].sort(), `after ${removals} removals`);
    if (killed !== 'killed') return;
  }
});

test('an unreadable backup stays, with every file that it may need', async () => {
  for (const damaged of ['manifest', 'files']) {
    const stored = await threeBackups();
    const id = '20260103T000000Z-aaaaaa';
    stored.set(`backups/${id}/${damaged}`, 'x');
    const files = () => [...stored.keys()].filter((name) => name.startsWith('files/'));
    const before = files();
    const { unreadable, backups } = await pruneBackups(openBackupStore(openMemory(stored), undefined), ONE_DAY);
    assert.deepEqual([unreadable, files()], [[id], before], damaged);
    assert.ok(!backups.includes(id));
  }
});

test('WAL and base backups outside the window are removed, and files listed with the remaining WAL stay', async () => {
  const all = await threeBackups();
  const whole = openBackupStore(openMemory(all), undefined);
  const wal = openWalStore(whole, '7');
  for (const day of [1, 2, 3]) {
    const manifest = await whole.manifest(`2026010${day}T000000Z-aaaaaa`);
    const object = async (name: string) =>
      whole.write(`backups/${manifest.backup_id}/base/${name}`, Readable.from([Buffer.from('x')]));
    const times = { started_at: manifest.made_at, stopped_at: manifest.made_at };
    const position = {
      system_identifier: '7',
      timeline: 1,
      start_lsn: `0/${2 * day}000028`,
      stop_lsn: `0/${2 * day}000100`,
    };
    const [archive, list] = [await object('archive'), await object('manifest')];
    await whole.complete({ ...manifest, base: { ...position, ...times, archive, manifest: list } });
    // A file that is in no snapshot, because it was deleted before the next one.
    await whole.write(whole.fileName(sha(`a${day}`)), Readable.from([Buffer.from('x')]));
    await wal.writeList(`2026-01-0${day}T12:00:00.000Z`, [sha(`a${day}`)]);
    for (const number of [2 * day, 2 * day + 1]) {
      const segment = { content: Buffer.from(String(number)), written_at: '2026-01-01T00:00:00.000Z' };
      await wal.write(segmentName({ timeline: 1, number }), segment);
    }
  }
  const windowSeconds = (Date.now() - Date.parse('2026-01-02T06:00:00Z')) / 1_000;
  for (let removals = 0; ; removals += 1) {
    const stored = new Map(all);
    const killed = await pruneBackups(
      openBackupStore(openMemory(stored, removals), undefined),
      ONE_DAY,
      windowSeconds,
    ).catch(() => 'killed');
    const store = openBackupStore(openMemory(stored), undefined);
    const left = (await openWalStore(store, '7').list()).names;
    for (const number of [4, 5, 6, 7]) assert.ok(left.has(segmentName({ timeline: 1, number })), `${number}`);
    for (const day of [2, 3]) {
      assert.ok(
        (await store.manifest(`2026010${day}T000000Z-aaaaaa`)).base,
        'the window begins with the second, which stays',
      );
      assert.ok(stored.has(store.fileName(sha(`a${day}`))), `the file of day ${day}`);
    }
    await store.removeUnfinished();
    await pruneBackups(store, ONE_DAY, windowSeconds);
    assert.deepEqual([...(await openWalStore(store, '7').list()).names].length, 4);
    assert.ok(![...stored.keys()].some((name) => name.includes('20260101') || name === store.fileName(sha('a1'))));
    if (killed !== 'killed') return;
  }
});

test('WAL is followed across timelines, from the segment in which a timeline ends to the next timeline', () => {
  const histories = new Map([[2, '1\t0/5000100\tat a moment\n']]);
  const name = (timeline: number, number: number) => segmentName({ timeline, number });
  const stored = [name(1, 3), name(1, 4), name(1, 5), name(1, 6), name(2, 5), name(2, 6), name(2, 8)];
  const followed = followWal({ timeline: 1, number: 3 }, new Set(stored), histories);
  assert.deepEqual(followed, {
    timeline: 2,
    segments: [name(1, 3), name(1, 4), name(2, 5), name(2, 6)],
    missing: [name(2, 7)],
  });
  const alone = followWal({ timeline: 1, number: 6 }, new Set(stored), histories);
  assert.deepEqual(alone, { timeline: 1, segments: [name(1, 6)], missing: [] }, 'what was made after the other began');
  assert.equal(segmentOf('1/4F000028'), 0x14f);
  assert.equal(name(1, 0x14f), '00000001000000010000004F');
});
