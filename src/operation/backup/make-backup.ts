import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createGzip } from 'node:zlib';
import { lockForBackup } from '../../platform/blobs/backup-lock.ts';
import type { BackupRetention } from '../../platform/core/backup-plan.ts';
import type { Copy, OwnerDb, Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { type BlobStore, mapAtOnce } from '../../platform/providers/storage/blobs.ts';
import type { BackupStore } from './backup-store.ts';
import { COPY_SETTINGS, copyOut, listTables, type Table } from './copied-tables.ts';
import { copyFile } from './copy-file.ts';
import { inBatches } from './file-list.ts';
import type { BackedUpTable, BaseBackup, Manifest } from './manifest.ts';
import { measure, through } from './measure.ts';
import { type Pruned, pruneBackups } from './prune-backups.ts';
import { recordBase, withStoredFiles } from './wal/wal-archive.ts';

/** Fast compression: tables are mostly text, and the CPU is the bottleneck. */
const gzip = () => createGzip({ level: 1 });

/**
 * A file may be referenced for a day after it was last stored, even if the snapshot does not show the reference yet.
 */
const RECENT = `interval '2 days'`;

export interface BackupOptions {
  /** Backups that it does not keep are removed. */
  retention?: BackupRetention | undefined;
  /** Set for recovery to any moment after the backup. */
  recovery?: Recovery | undefined;
}

export interface Recovery {
  /** The window of recoverable moments; older WAL is removed. */
  windowSeconds: number;
  /** Stores a base backup below a folder. Returns undefined if none can be made at present. */
  makeBase(folder: string, query: Query): Promise<BaseBackup | undefined>;
}

/**
 * Backs up one snapshot of the database and the files that it refers to, without blocking writers. Files of earlier
 * backups are not stored again. Throws an Error for the operator if another backup is running.
 */
export async function makeBackup(
  db: Pick<OwnerDb, 'session'>,
  blobs: Pick<BlobStore, 'stream'>,
  store: BackupStore,
  { retention, recovery }: BackupOptions = {},
): Promise<{ manifest: Manifest; pruned: Pruned | undefined }> {
  return db.session(async (query, runScript, copy) => {
    await lockForBackup(query);
    await store.removeUnfinished();
    await runScript(`${COPY_SETTINGS}; set ibid.service = 'on'`);
    await runScript('begin isolation level repeatable read read only');
    const head = await describe(query);
    const folder = `backups/${head.backup_id}`;
    const tables: BackedUpTable[] = [];
    for (const table of await listTables(query)) tables.push(await copyTable(copy, store, table, folder));
    const files = await copyFiles(copy, blobs, store, folder);
    await runScript('commit');
    // After the snapshot: every file of a later moment is then in this list of files or in a list stored with the WAL.
    const base = recovery && (await recovery.makeBase(folder, query));
    const manifest: Manifest = { ...head, tables, files, ...(base && { base }) };
    await store.complete(manifest);
    if (base) await recordBase(query, base.started_at);
    if (!retention && !recovery) return { manifest, pruned: undefined };
    const prune = () => pruneBackups(store, retention, recovery?.windowSeconds);
    return { manifest, pruned: await withStoredFiles(query, prune) };
  });
}

async function describe(query: Query): Promise<Omit<Manifest, 'tables' | 'files'>> {
  const [row] = await query<{ made_at: string; postgres_version: string; migrations: string[] }>(sql`
    select now() as made_at, current_setting('server_version') as postgres_version,
      array(select name from migrations order by name collate "C") as migrations`);
  if (!row) throw new Error('the database did not report its state');
  const time = row.made_at.replace(/[-:]|\.\d+/g, '');
  return { format: 1, backup_id: `${time}-${randomBytes(3).toString('hex')}`, ...row };
}

async function copyTable(copy: Copy, store: BackupStore, table: Table, folder: string): Promise<BackedUpTable> {
  const rows = copy.out(copyOut(table));
  const measured = measure();
  const stored = await store.write(`${folder}/tables/${table.name}`, through(measured.of(rows), gzip()));
  const { name, columns } = table;
  return { name, columns, rows: rows.rowCount, sha256: measured.result().sha256, stored };
}

/** Stores the files that the snapshot refers to, and a list of them. */
async function copyFiles(
  copy: Copy,
  blobs: Pick<BlobStore, 'stream'>,
  store: BackupStore,
  folder: string,
): Promise<Manifest['files']> {
  const files = { count: 0, byte_size: 0, missing: [] as string[] };
  const known = copy.out(`
    copy (
      select r.sha256, coalesce(b.byte_size, 0), bool_or(r.is_referred)::int
      from (
        select sha256, true as is_referred from blob_references where sha256 <> ''
        union all select sha256, false from blobs where kept_at > now() - ${RECENT} and exists (select from wal_archive)
      ) r
      left join blobs b on b.sha256 = r.sha256 group by 1, 2 order by 1
    ) to stdout`);
  async function* list(): AsyncGenerator<Uint8Array> {
    for await (const lines of inBatches(createInterface({ input: known }))) {
      const found = await mapAtOnce(lines, async (line) => {
        const [sha256 = '', byte_size, isReferred] = line.split('\t');
        const isThere = await copyFile(blobs, store, sha256);
        return { sha256, byte_size: Number(byte_size), isNeeded: isReferred === '1', isThere };
      });
      for (const { sha256, byte_size, isNeeded, isThere } of found) {
        if (!isThere && isNeeded) files.missing.push(sha256);
        if (isThere) {
          files.count += 1;
          files.byte_size += byte_size;
        }
      }
      const there = found.filter(({ isThere }) => isThere);
      yield Buffer.from(there.map(({ sha256 }) => `${sha256}\n`).join(''));
    }
  }
  return { list: await store.write(`${folder}/files`, through(list(), gzip())), ...files };
}
