import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupInProgress } from '../../platform/blobs/backup-lock.ts';
import { listMigrations } from '../../platform/db/migrate.ts';
import { pauseAllJobs } from '../../platform/jobs/pause-jobs.ts';
import { openObjects } from '../../platform/providers/storage/objects.ts';
import { recordBackup } from '../backup/backup-status.ts';
import { type BackupStore, openBackupStore } from '../backup/backup-store.ts';
import { readKey } from '../backup/encryption.ts';
import { makeBackup } from '../backup/make-backup.ts';
import type { Manifest } from '../backup/manifest.ts';
import type { Pruned } from '../backup/prune-backups.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { verifyBackup } from '../backup/verify-backup.ts';
import type { Config } from '../config.ts';
import { readArguments } from './arguments.ts';
import { recoveryOf } from './base-backups.ts';
import { restoreToMoment } from './restore-to-moment.ts';
import { UsageError, withDatabase, withNewConnection } from './with-database.ts';
import { withFiles } from './with-files.ts';

type Print = (line: string) => void;

export const BACKUP_USAGE = `  ibid backup                                                   backs up the database and files to BACKUP_URL
  ibid verify-backup [BACKUP_ID]                                checks that a backup is complete and unchanged; default: the latest
  ibid restore [BACKUP_ID]                                      restores a backup into an empty database, with jobs and mail paused
  ibid restore [BACKUP_ID] --at 2026-11-26T13:00:00Z            restores a moment after a backup, or --at latest; needs BACKUP_WAL
  ibid resume                                                   resumes jobs and mail of a restored service`;

/** Runs a backup command. Returns whether everything it checked is whole. */
export async function runBackupCommand(config: Config, [command, ...args]: string[], print: Print): Promise<boolean> {
  const { positionals, values } = readArguments(args, {
    options: { at: { type: 'string' } },
    most: 1,
    usage: BACKUP_USAGE,
  });
  const { at } = values;
  const [id] = positionals;
  if (at !== undefined && command !== 'restore')
    throw new UsageError(`--at works only with "ibid restore".\n\n${BACKUP_USAGE}`);
  if (id !== undefined && !/^\w+-[0-9a-f]+$/.test(id)) {
    throw new UsageError(`a backup ID looks like 20261123T063000Z-0a1b2c.\n\n${BACKUP_USAGE}`);
  }
  if (command === 'resume') {
    let changed = false;
    await withDatabase(config, async ({ query }) => void (changed = await pauseAllJobs(query, false)));
    print(changed ? 'jobs and mail resumed' : 'jobs and mail were not paused');
    return true;
  }
  if (command === 'backup') return backup(config, print);
  if (at !== undefined) return withBackups(config, (store) => restoreToMoment(config, store, { at, id }, print));
  const work = { restore, 'verify-backup': verify }[command ?? ''];
  if (!work) throw new UsageError(`unknown command "${command}".\n\n${BACKUP_USAGE}`);
  return withBackups(config, (store) => work(config, store, print, id));
}

type Work = (config: Config, store: BackupStore, print: Print, id: string | undefined) => Promise<boolean>;

/** Opens the database first, to record the failure even if the backup store is unavailable. */
async function backup(config: Config, print: Print): Promise<boolean> {
  backupUrlOf(config);
  let isWhole = false;
  await withDatabase(config, async (db, own) => {
    try {
      const { manifest, pruned } = await withBackups(config, (store) =>
        withFiles(config, async (blobs) => {
          const recovery = await recoveryOf(config, { db, own, blobs, store });
          return makeBackup(db, blobs, store, { retention: config.BACKUP_RETENTION, recovery });
        }),
      );
      await recordBackup(db.query, manifest);
      describe(manifest, print);
      if (pruned) describePruned(pruned, print);
      isWhole = manifest.files.missing.length === 0;
    } catch (error) {
      if (!(error instanceof BackupInProgress)) await recordBackup(db.query, error as Error);
      throw error;
    }
  });
  return isWhole;
}

const verify: Work = async (_config, store, print, id) => {
  let isWhole = true;
  const found = await verifyBackup(store, id ?? (await latest(store)), (name, reason) => {
    isWhole = false;
    print(`${name}: ${reason}`);
  });
  if (found && isWhole) describe(found.manifest, print);
  if (found?.wal && isWhole) {
    const { segments, stored_until } = found.wal;
    print(
      `${segments} WAL segments; any moment from ${found.manifest.base?.stopped_at} to ${stored_until} can be recovered`,
    );
  }
  return isWhole;
};

const restore: Work = async (config, store, print, id) => {
  let restored: Manifest | undefined;
  const backup_id = id ?? (await latest(store));
  await withFiles(config, (blobs) =>
    withNewConnection(config, async (db, prepare) => {
      restored = await restoreBackup(store, backup_id, { db, blobs, migrations: listMigrations(), prepare });
    }),
  );
  if (restored) describe(restored, print);
  print('Jobs and mail are paused. Check the restored service, then run: ibid resume');
  return true;
};

async function latest(store: BackupStore): Promise<string> {
  const id = (await store.list()).at(-1);
  if (id === undefined) throw new UsageError('no complete backup at BACKUP_URL.');
  return id;
}

function describe({ backup_id, tables, files, made_at }: Manifest, print: Print): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  print(`${backup_id}: ${rows} rows of ${tables.length} tables and ${files.count} files, as of ${made_at}`);
  for (const sha256 of files.missing) print(`${sha256}: the file store lacked this file, or its content had changed`);
}

function describePruned({ backups, files, segments, unreadable }: Pruned, print: Print): void {
  if (segments > 0) print(`removed: ${segments} WAL segments older than BACKUP_WAL`);
  if (backups.length > 0) print(`removed: ${backups.join(', ')}`);
  if (files > 0) print(`removed: ${files} files that no backup needs`);
  for (const id of unreadable) {
    if (id.startsWith('wal/')) {
      print(`${id}: unreadable, so no files are removed while BACKUP_WAL reaches back to it`);
      continue;
    }
    print(`${id}: unreadable, so no files are removed; run ibid verify-backup ${id}, and remove backups/${id}`);
  }
}

function backupUrlOf({ BACKUP_URL }: Config): string {
  if (BACKUP_URL !== undefined) return BACKUP_URL;
  throw new UsageError('set BACKUP_URL to the place for backups: file:///folder or s3://….');
}

async function withBackups<T>(config: Config, work: (store: BackupStore) => Promise<T>): Promise<T> {
  const { BACKUP_KEY_FILE, DATA_DIR } = config;
  const key = BACKUP_KEY_FILE === undefined ? undefined : readKey(await readFile(BACKUP_KEY_FILE, 'utf8'));
  const objects = await openObjects('BACKUP_URL', backupUrlOf(config), join(DATA_DIR, 'backup-incoming'));
  try {
    return await work(openBackupStore(objects, key));
  } finally {
    objects.close();
  }
}
