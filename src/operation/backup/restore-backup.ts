import { Readable } from 'node:stream';
import { currentNames } from '../../platform/core/schema/baseline.ts';
import type { Migration } from '../../platform/db/apply-migration.ts';
import type { OwnerDb, Query } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import { pauseAllJobs } from '../../platform/jobs/pause-jobs.ts';
import { type BlobStore, mapAtOnce } from '../../platform/providers/storage/blobs.ts';
import type { BackupStore } from './backup-store.ts';
import type { Table } from './copied-tables.ts';
import { readFile } from './copy-file.ts';
import type { Manifest } from './manifest.ts';
import { RestoreRefused, refused, refuseIfUsed, restoreRows, type TableRows } from './restore-rows.ts';
import { readFileList, readTable } from './verify-backup.ts';

interface Target {
  db: OwnerDb;
  blobs: Pick<BlobStore, 'receive'>;
  /** The migrations of this release. */
  migrations: readonly Migration[];
  /** Migrates the database up to these. */
  prepare(migrations: readonly Migration[]): Promise<void>;
}

/**
 * Restores a backup into a database without users and workspaces: first the files, then all rows in one transaction,
 * which compares them with the manifest before it commits. A restore that is killed has changed nothing visible, and
 * can be repeated. Jobs stay paused afterwards. Throws RestoreRefused or DamagedObject.
 */
export async function restoreBackup(
  store: BackupStore,
  backup_id: string,
  { db, blobs, migrations, prepare }: Target,
): Promise<Manifest> {
  const manifest = await store.manifest(backup_id);
  const own = new Set(currentNames(manifest.migrations));
  const unknown = [...own].find((name) => !migrations.some((migration) => migration.name === name));
  if (unknown !== undefined || manifest.format !== 1) {
    throw new RestoreRefused(
      `the backup was made by another version of Ibid (it has ${unknown}): restore it with that version.`,
    );
  }
  await refuseUnlessEmpty(db.query, own);
  await prepare(migrations.filter(({ name }) => own.has(name)));
  await restoreFiles(store, manifest, blobs);
  await db.session((query, runScript, copy) =>
    restoreRows(
      { query, runScript, copy },
      (table) => storedRows(store, manifest, table),
      async () => {
        await beginUnfinishedFilesAgain(query);
        await pauseAllJobs(query, true);
      },
    ),
  );
  await prepare(migrations);
  return manifest;
}

async function refuseUnlessEmpty(query: Query, migrations: ReadonlySet<string>): Promise<void> {
  const [tables] = await query<{ names: string[] }>(sql`
    select array(
      select relname::text from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1
    ) as names`);
  const names = tables?.names ?? [];
  if (names.length === 0) return;
  if (!names.includes('migrations')) throw refused(`has tables that do not belong to Ibid (${names[0]})`);
  const applied = await query<{ name: string }>(sql`select name from migrations`);
  if (currentNames(applied.map(({ name }) => name)).some((name) => !migrations.has(name)))
    throw refused('has a newer schema than the backup');
  if (names.includes('users') && names.includes('workspaces')) await refuseIfUsed(query);
}

async function restoreFiles(store: BackupStore, manifest: Manifest, blobs: Target['blobs']): Promise<void> {
  for await (const sha256s of readFileList(store, manifest)) {
    await mapAtOnce(sha256s, async (sha256) => {
      const received = await blobs.receive(Readable.from(readFile(store, sha256), { objectMode: false }));
      await received.keep();
    });
  }
}

function storedRows(store: BackupStore, manifest: Manifest, { name }: Table): TableRows {
  const stored = manifest.tables.find((table) => table.name === name);
  if (!stored) throw new RestoreRefused(`the backup has no table ${name}: it was made by another version of Ibid.`);
  return { columns: stored.columns, content: readTable(store, manifest, stored), expected: () => stored };
}

/**
 * Resets uploads in progress: their parts are in no backup, so clients that ask for the offset send everything again.
 */
export async function beginUnfinishedFilesAgain(query: Query): Promise<void> {
  await query(sql`
    with gone as (delete from upload_parts returning wiki_id, upload_id, file_no)
    update upload_files f set received = 0
    from (select distinct wiki_id, upload_id, file_no from gone) g
    where f.wiki_id = g.wiki_id and f.upload_id = g.upload_id and f.file_no = g.file_no`);
}
