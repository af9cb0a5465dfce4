import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { mapAtOnce } from '../../platform/providers/storage/blobs.ts';
import type { BackupStore } from './backup-store.ts';
import { verifyBase } from './base/base-backup.ts';
import { readFile } from './copy-file.ts';
import { inBatches } from './file-list.ts';
import type { BackedUpTable, Manifest } from './manifest.ts';
import { type Content, measure, through } from './measure.ts';
import { type VerifiedWal, verifyWal } from './wal/verify-wal.ts';

/**
 * Reads a whole backup, and the WAL that leads from it to later moments. Calls `onDamaged` with the name and reason of
 * each damaged object.
 */
export async function verifyBackup(
  store: BackupStore,
  backup_id: string,
  onDamaged: (name: string, reason: string) => void,
): Promise<{ manifest: Manifest; wal?: VerifiedWal } | undefined> {
  const check = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      onDamaged(name, (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it is missing' : (error as Error).message);
      return undefined;
    }
  };
  const manifest = await check(store.manifestOf(backup_id), () => store.manifest(backup_id));
  if (!manifest) return undefined;
  for (const table of manifest.tables) {
    await check(tableOf(manifest, table), async () => {
      const found = await countRows(readTable(store, manifest, table));
      if (found.rows !== table.rows || found.sha256 !== table.sha256)
        throw new Error('its rows differ from the stored rows');
    });
  }
  await check(`backups/${backup_id}/files`, async () => {
    for await (const sha256s of readFileList(store, manifest)) {
      await mapAtOnce(sha256s, (sha256) =>
        check(store.fileName(sha256), async () => {
          for await (const _ of readFile(store, sha256));
        }),
      );
    }
  });
  if (!manifest.base) return { manifest };
  await verifyBase(store, manifest, manifest.base, check);
  return { manifest, wal: await verifyWal(store, manifest, manifest.base, check) };
}

const tableOf = ({ backup_id }: Manifest, { name }: BackedUpTable) => `backups/${backup_id}/tables/${name}`;

/**
 * Reads the rows of a table in the format of `copy … to stdout`. Throws DamagedObject at the end if they were altered.
 */
export function readTable(store: BackupStore, manifest: Manifest, table: BackedUpTable): Content {
  return through(store.read(tableOf(manifest, table), table.stored), createGunzip());
}

/** Yields the hashes of a backup's files, in batches. */
export async function* readFileList(store: BackupStore, manifest: Manifest): AsyncGenerator<string[]> {
  const list = through(store.read(`backups/${manifest.backup_id}/files`, manifest.files.list), createGunzip());
  yield* inBatches(linesOf(list));
}

/** Counts and hashes the rows in the output of `copy … to stdout`. */
export async function countRows(content: Content): Promise<{ rows: number; sha256: string }> {
  const measured = measure();
  let rows = 0;
  for await (const chunk of measured.of(content)) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1;
  }
  return { rows, sha256: measured.result().sha256 };
}

async function* linesOf(content: Content): AsyncGenerator<string> {
  yield* createInterface({ input: Readable.from(content) });
}
