import { Readable } from 'node:stream';
import { recoverPostgres } from '@ibid/postgres-server/recover.ts';
import type { Supply } from '@ibid/postgres-server/serve-wal.ts';
import type { Connection } from '@ibid/postgres-server/server.ts';
import { currentNames } from '../../platform/core/schema/baseline.ts';
import { openDb, type Query } from '../../platform/db/db.ts';
import { listMigrations } from '../../platform/db/migrate.ts';
import { prepareDatabase } from '../../platform/db/prepare-database.ts';
import { sql } from '../../platform/db/sql.ts';
import { pauseAllJobs } from '../../platform/jobs/pause-jobs.ts';
import { type BlobStore, mapAtOnce } from '../../platform/providers/storage/blobs.ts';
import type { BackupStore } from '../backup/backup-store.ts';
import { unpackBase } from '../backup/base/base-backup.ts';
import { readFile } from '../backup/copy-file.ts';
import { DamagedObject } from '../backup/encryption.ts';
import { beginUnfinishedFilesAgain } from '../backup/restore-backup.ts';
import { RestoreRefused } from '../backup/restore-rows.ts';
import { findRecoverable } from '../backup/wal/recoverable.ts';
import { openWalStore } from '../backup/wal/wal-store.ts';
import type { Config } from '../config.ts';
import { UsageError } from './with-database.ts';
import { withFiles } from './with-files.ts';

type Print = (line: string) => void;

const EVERY_ROW = "set row_security = off; set ibid.service = 'on'";

const BATCH = 500;

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** Parses --at; returns undefined for "latest". Throws UsageError. */
function readMoment(at: string): string | undefined {
  if (at === 'latest') return undefined;
  const time = MOMENT.test(at) ? Date.parse(at) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new UsageError('--at must be a moment with its time zone, such as 2026-11-26T13:00:00Z, or "latest".');
}

/**
 * Recovers the service's own PostgreSQL to a moment in a DATA_DIR without a database, with the files it referred to.
 * Returns whether all files were restored. Throws RestoreRefused, DamagedObject or StartError.
 */
export async function restoreToMoment(
  config: Config,
  store: BackupStore,
  { at, id }: { at: string; id: string | undefined },
  print: Print,
): Promise<boolean> {
  const moment = readMoment(at);
  const { DATA_DIR: dataDir } = config;
  if ((config.DATABASE_URL ?? config.SERVICE_DATABASE_URL) !== undefined) {
    throw new RestoreRefused(
      "--at recovers only the service's own PostgreSQL: leave DATABASE_URL and SERVICE_DATABASE_URL empty, or recover that PostgreSQL with its own tools.",
    );
  }
  const { manifest, base, chain, stored_until } = await findRecoverable(store, moment, id);
  const log = (level: string, message: string) => level === 'error' && process.stderr.write(`${message}\n`);
  const missing: string[] = [];
  const wal = openWalStore(store, base.system_identifier);
  const within = new Set(chain.segments);
  const files = await recoverPostgres(
    { dataDir, log },
    {
      major: Number.parseInt(manifest.postgres_version, 10),
      timeline: chain.timeline,
      moment,
      archivesWal: config.BACKUP_WAL !== undefined,
      unpack: (folder) => unpackBase(store, manifest, base, folder),
      supply: ahead(chain.segments, async (name) => {
        if (name.length === SEGMENT_LENGTH && !within.has(name)) return undefined;
        return (await wal.has(name)) ? (await wal.read(name)).content : undefined;
      }),
      complete: (connection) => complete(config, store, connection, missing),
    },
  );
  print(`${manifest.backup_id}: restored as of ${moment ?? `the latest, ${stored_until}`}, with ${files} files`);
  for (const sha256 of missing) print(`${sha256}: the backups lack this file, or its content has changed`);
  print('Jobs and mail are paused, and no WAL is stored. Check the restored service, then run: ibid resume');
  return missing.length === 0;
}

const SEGMENT_LENGTH = 24;

/** Prefetches the next segment while PostgreSQL replays the requested one. */
function ahead(segments: readonly string[], get: Supply): Supply {
  let next: { name: string; content: ReturnType<Supply> } | undefined;
  return async (name) => {
    const content = await (next?.name === name ? next.content : get(name));
    const following = segments[segments.indexOf(name) + 1];
    next = undefined;
    if (content && segments.includes(name) && following !== undefined) {
      next = { name: following, content: get(following) };
      // A failure is thrown when PostgreSQL requests the segment.
      next.content.catch(() => undefined);
    }
    return content;
  };
}

/** Restores the files of a recovered database. Returns their number, and adds the others to `missing`. */
async function complete(
  config: Config,
  store: BackupStore,
  connection: Connection,
  missing: string[],
): Promise<number> {
  const db = openDb({ connection, connections: 1 });
  try {
    await refuseNewer(db.query);
    await pauseAllJobs(db.query, true);
    await prepareDatabase(db, { url: undefined, dataDir: config.DATA_DIR }, () => undefined);
    await db.session(async (query, runScript) => {
      await runScript(EVERY_ROW);
      await beginUnfinishedFilesAgain(query);
    });
    return await withFiles(config, (blobs) =>
      db.session(async (query, runScript) => {
        await runScript(EVERY_ROW);
        return restoreFiles(query, store, blobs, missing);
      }),
    );
  } finally {
    await db.close();
  }
}

async function refuseNewer(query: Query): Promise<void> {
  const known = new Set(listMigrations().map(({ name }) => name));
  const applied = await query<{ name: string }>(sql`select name from migrations order by name collate "C"`);
  const unknown = currentNames(applied.map(({ name }) => name)).find((name) => !known.has(name));
  if (!unknown) return;
  throw new RestoreRefused(
    `the backup was made by another version of Ibid (it has ${unknown}): restore it with that version.`,
  );
}

/** Restores the files that the database refers to at that moment. */
async function restoreFiles(query: Query, store: BackupStore, blobs: BlobStore, missing: string[]): Promise<number> {
  let restored = 0;
  for (let last = ''; ; ) {
    const batch = await query<{ sha256: string }>(sql`
      select distinct sha256 from blob_references where sha256 > ${last} order by sha256 limit ${BATCH}`);
    const found = await mapAtOnce(batch, ({ sha256 }) => restoreFile(store, blobs, sha256));
    found.forEach((isThere, at) => {
      if (isThere) restored += 1;
      else missing.push(batch[at]?.sha256 ?? '');
    });
    last = batch.at(-1)?.sha256 ?? '';
    if (batch.length < BATCH) return restored;
  }
}

async function restoreFile(store: BackupStore, blobs: BlobStore, sha256: string): Promise<boolean> {
  try {
    const received = await blobs.receive(Readable.from(readFile(store, sha256), { objectMode: false }));
    await received.keep();
    return true;
  } catch (error) {
    if (error instanceof DamagedObject || (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
