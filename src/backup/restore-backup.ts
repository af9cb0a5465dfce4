import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Migration } from '../db/apply-migration.ts';
import type { Copy, OwnerDb, Query, RunScript } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { pauseAllJobs } from '../jobs/pause-jobs.ts';
import { type BlobStore, mapAtOnce } from '../providers/storage/blobs.ts';
import type { BackupStore } from './backup-store.ts';
import type { Manifest } from './manifest.ts';
import { COPY_SETTINGS, copyInto, copyOut, listTables, quote } from './tables.ts';
import { countRows, readFile, readFileList, readTable } from './verify-backup.ts';

/** The backup cannot be restored here; the message says what to do. */
export class RestoreRefused extends Error {}

interface Target {
  db: OwnerDb;
  blobs: Pick<BlobStore, 'receive'>;
  /** What this program knows. */
  migrations: readonly Migration[];
  /** Migrates the database as far as these. */
  prepare(migrations: readonly Migration[]): Promise<void>;
}

/**
 * Restores a backup into a database without users and workspaces: the files first, then all rows in one transaction, which
 * compares them with the manifest before it commits. So a restore that is killed has changed nothing that anyone sees, and is
 * repeated. Jobs are paused from then on. Errors: RestoreRefused, DamagedObject.
 */
export async function restoreBackup(
  store: BackupStore,
  backup_id: string,
  { db, blobs, migrations, prepare }: Target,
): Promise<Manifest> {
  const manifest = await store.manifest(backup_id);
  const own = new Set(manifest.migrations);
  const unknown = manifest.migrations.find((name) => !migrations.some((migration) => migration.name === name));
  if (unknown !== undefined || manifest.format !== 1) {
    throw new RestoreRefused(`the backup was made by a newer Ibid (it has ${unknown}): restore it with that version.`);
  }
  await refuseUnlessEmpty(db.query, own);
  await prepare(migrations.filter(({ name }) => own.has(name)));
  await restoreFiles(store, manifest, blobs);
  await db.session((query, runScript, copy) => restoreRows(store, manifest, { query, runScript, copy }));
  await prepare(migrations);
  return manifest;
}

const refused = (reason: string) =>
  new RestoreRefused(`the database ${reason}: give a new DATA_DIR, or the DATABASE_URL of an empty database.`);

async function refuseUnlessEmpty(query: Query, migrations: ReadonlySet<string>): Promise<void> {
  const [tables] = await query<{ names: string[] }>(sql`
    select array(
      select relname::text from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1
    ) as names`);
  const names = tables?.names ?? [];
  if (names.length === 0) return;
  if (!names.includes('migrations')) throw refused(`has tables that are not Ibid's (${names[0]})`);
  const applied = await query<{ name: string }>(sql`select name from migrations`);
  if (applied.some(({ name }) => !migrations.has(name))) throw refused('has a newer schema than the backup');
  if (names.includes('users') && names.includes('workspaces')) await refuseIfUsed(query);
}

async function refuseIfUsed(query: Query): Promise<void> {
  const [row] = await query<{ is_used: boolean }>(sql`
    select exists (select from users) or exists (select from workspaces) as is_used`);
  if (row?.is_used) throw refused('has users or workspaces, which a restore would replace');
}

async function restoreFiles(store: BackupStore, manifest: Manifest, blobs: Target['blobs']): Promise<void> {
  for await (const sha256s of readFileList(store, manifest)) {
    await mapAtOnce(sha256s, async (sha256) => {
      const received = await blobs.receive(Readable.from(readFile(store, sha256), { objectMode: false }));
      await received.keep();
    });
  }
}

interface Session {
  query: Query;
  runScript: RunScript;
  copy: Copy;
}

/**
 * Triggers of ours are off meanwhile, since what they would count or write is in the backup; foreign keys hold, for which
 * tables come in the order in which they refer to each other.
 */
async function restoreRows(store: BackupStore, manifest: Manifest, { query, runScript, copy }: Session): Promise<void> {
  await runScript(COPY_SETTINGS);
  await runScript('begin');
  // No user is added between this look and the end.
  await runScript('lock table users, workspaces in access exclusive mode');
  await refuseIfUsed(query);
  const tables = await listTables(query);
  // Cascade: to unlogged tables, which hold what a crash may lose.
  await runScript(`truncate ${tables.map(({ name }) => quote(name)).join(', ')} cascade`);
  for (const { name } of tables) await runScript(`alter table ${quote(name)} disable trigger user`);
  for (const table of tables) {
    const stored = manifest.tables.find(({ name }) => name === table.name);
    if (!stored) throw new RestoreRefused(`the backup has no table ${table.name}: it is not one of this Ibid.`);
    const rows: Writable = copy.into(copyInto(stored));
    await pipeline(readTable(store, manifest, stored), rows);
  }
  await runScript('set constraints all immediate');
  for (const table of tables) {
    const found = await countRows(copy.out(copyOut(table)));
    const stored = manifest.tables.find(({ name }) => name === table.name);
    if (found.rows !== stored?.rows || found.sha256 !== stored.sha256) {
      throw new Error(`the table ${table.name} is not what the backup has: ${found.rows} of ${stored?.rows} rows.`);
    }
  }
  await beginUnfinishedFilesAgain(query);
  for (const { name } of tables) await runScript(`alter table ${quote(name)} enable trigger user`);
  await pauseAllJobs(query, true);
  await runScript('commit; analyze');
}

/** The parts of files that were still being sent are in no backup: clients that ask how much is there send all. */
async function beginUnfinishedFilesAgain(query: Query): Promise<void> {
  await query(sql`
    with gone as (delete from upload_parts returning wiki_id, upload_id, file_no)
    update upload_files f set received = 0
    from (select distinct wiki_id, upload_id, file_no from gone) g
    where f.wiki_id = g.wiki_id and f.upload_id = g.upload_id and f.file_no = g.file_no`);
}
