import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import type { BackupStore } from '../backup-store.ts';
import { DamagedObject } from '../encryption.ts';
import type { BaseBackup, Manifest } from '../manifest.ts';
import { type Content, measure, through } from '../measure.ts';
import { segmentName, segmentOf } from '../wal/segments.ts';
import { readWalArchive } from '../wal/wal-archive.ts';
import { openWalStore } from '../wal/wal-store.ts';
import { readTar } from './tar.ts';

/** How often, and for how long, to check whether the WAL that a base backup needs is stored. */
const LOOK_MS = 200;
const WAL_MS = 600_000;

/** Takes a base backup of the server, as `takeBaseBackup` does. Its WAL has been archived when the promise resolves. */
export type TakeBase = (taker: {
  archive(content: Content): Promise<void>;
  manifest(content: Content): Promise<void>;
}) => Promise<{ timeline: number; start_lsn: string; stop_lsn: string }>;

export const baseFolder = (backup_id: string) => `backups/${backup_id}/base/`;

/**
 * Stores a base backup below the folder of a backup, and waits until the WAL that completes it is stored. `ship` stores
 * waiting WAL.
 */
export async function makeBase(
  query: Query,
  store: BackupStore,
  folder: string,
  { take, ship }: { take: TakeBase; ship: () => Promise<unknown> },
): Promise<BaseBackup> {
  const { system_identifier } = await readWalArchive(query);
  const write = (name: string, content: Content) =>
    store.write(`${folder}/base/${name}`, through(content, createGzip({ level: 1 })));
  // Detect WAL that is already lost before the base backup starts.
  await ship();
  const started_at = await clockOf(query);
  const stored: Partial<Pick<BaseBackup, 'archive' | 'manifest'>> = {};
  const position = await take({
    archive: async (content) => void (stored.archive = await write('archive', content)),
    manifest: async (content) => void (stored.manifest = await write('manifest', content)),
  });
  const { archive, manifest } = stored;
  const clock = await clockOf(query);
  if (!archive || !manifest) throw new Error('the server sent an incomplete base backup');
  const wal = openWalStore(store, system_identifier);
  const last = segmentName({ timeline: position.timeline, number: segmentOf(position.stop_lsn) });
  for (const deadline = performance.now() + WAL_MS; !(await wal.has(last)); await delay(LOOK_MS)) {
    await ship();
    if (performance.now() > deadline) throw new Error(`the WAL of the base backup was not stored: ${wal.nameOf(last)}`);
  }
  // Moments are compared in milliseconds, and the clock was rounded down.
  const stopped_at = new Date(Date.parse(clock) + 1).toISOString();
  return { system_identifier, ...position, started_at, stopped_at, archive, manifest };
}

async function clockOf(query: Query): Promise<string> {
  const [clock] = await query<{ now: string }>(sql`select clock_timestamp() as now`);
  if (!clock) throw new Error('the database did not report its time');
  return clock.now;
}

function readArchive(store: BackupStore, { backup_id }: Manifest, base: BaseBackup) {
  return readTar(through(store.read(`${baseFolder(backup_id)}archive`, base.archive), createGunzip()));
}

/** Reads PostgreSQL's manifest of a base backup: its files with sizes and hashes. Throws DamagedObject or ENOENT. */
async function readFiles(store: BackupStore, { backup_id }: Manifest, base: BaseBackup) {
  const text = await buffer(
    through(store.read(`${baseFolder(backup_id)}manifest`, base.manifest), createGunzip()) as AsyncIterable<Buffer>,
  );
  const { Files } = JSON.parse(text.toString()) as { Files: { Path: string; Size: number; Checksum: string }[] };
  return new Map(Files.map(({ Path, Size, Checksum }) => [Path, { byte_size: Size, sha256: Checksum }]));
}

/**
 * Reads a whole base backup and compares its files with PostgreSQL's manifest. `check` runs the check of a named
 * object.
 */
export async function verifyBase(
  store: BackupStore,
  manifest: Manifest,
  base: BaseBackup,
  check: (name: string, work: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  let files: Awaited<ReturnType<typeof readFiles>> | undefined;
  const folder = baseFolder(manifest.backup_id);
  await check(`${folder}manifest`, async () => {
    files = await readFiles(store, manifest, base);
  });
  await check(`${folder}archive`, async () => {
    const left = new Map(files);
    for await (const { name, isFolder, content } of readArchive(store, manifest, base)) {
      if (isFolder) continue;
      const measured = measure();
      for await (const _ of measured.of(content));
      const expected = left.get(name);
      const found = measured.result();
      if (expected && (expected.sha256 !== found.sha256 || expected.byte_size !== found.byte_size)) {
        throw new DamagedObject(`its file ${name} differs from what PostgreSQL wrote`);
      }
      left.delete(name);
    }
    const [missing] = left.keys();
    if (missing !== undefined) throw new DamagedObject(`its file ${missing} is missing`);
  });
}

/** Unpacks a base backup into an empty folder. PostgreSQL syncs the files to disk before recovery. */
export async function unpackBase(
  store: BackupStore,
  manifest: Manifest,
  base: BaseBackup,
  folder: string,
): Promise<void> {
  const files = await readFiles(store, manifest, base);
  for await (const { name, isFolder, content } of readArchive(store, manifest, base)) {
    const path = join(folder, name);
    if (isFolder) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      continue;
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const measured = measure();
    const handle = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of measured.of(content)) await handle.writeFile(chunk);
    } finally {
      await handle.close();
    }
    const expected = files.get(name);
    if (expected && expected.sha256 !== measured.result().sha256) {
      throw new DamagedObject(`${name} of the base backup differs from what PostgreSQL wrote`);
    }
  }
}
