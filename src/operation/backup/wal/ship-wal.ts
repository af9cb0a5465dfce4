import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Query } from '../../../platform/db/db.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { jobsAreOn } from '../../../platform/jobs/pause-jobs.ts';
import { type BlobStore, mapAtOnce } from '../../../platform/providers/storage/blobs.ts';
import type { BackupStore } from '../backup-store.ts';
import { copyFile } from '../copy-file.ts';
import { isArchived, readSegment } from './segments.ts';
import { readWalArchive, recordGap, recordShipped, type WalArchive, withStoredFiles } from './wal-archive.ts';
import { openWalStore, type WalStore } from './wal-store.ts';

/** Segments stored after one scan for new files. */
const BATCH = 32;

/** Files per query, and the maximum number of files remembered as stored. */
const FILES_BATCH = 1_000;
const KNOWN_MAX = 50_000;

/** A file's row exists before its bytes and becomes visible when its transaction commits, so scans overlap. */
const OVERLAP = raw(`interval '10 minutes'`);

export interface ShippedFrom {
  /** Must run on a single session. */
  query: Query;
  blobs: Pick<BlobStore, 'stream'>;
  store: BackupStore;
  /** The folder to which PostgreSQL copies finished segments. */
  folder: string;
  /** Files recently found in the store, cached so that not every batch checks them again. */
  known?: Set<string>;
}

export interface Shipped {
  segments: number;
  /** A segment did not follow the previously stored segment. */
  hasGap: boolean;
  /** True after a restore, because a trial copy must not write to the store of the original service. */
  isPaused: boolean;
}

/** Returns the names of waiting WAL files in order. */
export async function waitingWal(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter(isArchived).sort();
}

/**
 * Stores waiting WAL segments, oldest first, and before them the files that they refer to, so that all stored WAL can
 * be restored. A kill loses nothing, because a segment waits until it is stored. Checks `isStopped` between segments.
 * Throws errors of the backup store, and an Error if it has other bytes under the name of a segment.
 */
export async function shipWal(from: ShippedFrom, isStopped: () => boolean = () => false): Promise<Shipped> {
  const shipped: Shipped = { segments: 0, hasGap: false, isPaused: false };
  while (!isStopped()) {
    const names = (await waitingWal(from.folder)).slice(0, BATCH);
    if (names.length === 0) break;
    const [state] = await from.query<{ is_on: boolean }>(sql`select ${jobsAreOn} as is_on`);
    if (!state?.is_on) return { ...shipped, isPaused: true };
    await withStoredFiles(from.query, () => shipBatch(from, names, shipped, isStopped));
  }
  return shipped;
}

async function shipBatch(
  from: ShippedFrom,
  names: readonly string[],
  shipped: Shipped,
  isStopped: () => boolean,
): Promise<void> {
  const { query, store, folder } = from;
  const state = await readWalArchive(query);
  const wal = openWalStore(store, state.system_identifier);
  const files_until = await shipFiles(from, wal, state);
  let { last_segment } = state;
  let written_at: string | null = null;
  try {
    for (const name of names) {
      if (isStopped()) return;
      const found = await shipFile(wal, folder, name);
      // Another process stored it in the meantime.
      if (found === undefined) continue;
      if (!readSegment(name)) continue;
      if (last_segment !== null && !follows(last_segment, name)) {
        await recordGap(query);
        shipped.hasGap = true;
      }
      last_segment = name;
      written_at = found;
      shipped.segments += 1;
    }
  } finally {
    await recordShipped(query, { last_segment, written_at, files_until });
  }
}

/**
 * Whether a segment follows another without a gap. A timeline starts in the segment in which the previous timeline
 * ended.
 */
function follows(last: string, name: string): boolean {
  const [a, b] = [readSegment(last), readSegment(name)];
  // PostgreSQL archives a segment again if it was killed after the copy.
  return !a || !b || a.timeline !== b.timeline || b.number <= a.number + 1;
}

/** Stores a WAL file. Returns the time of PostgreSQL's last write to it, or undefined if it no longer waits. */
async function shipFile(wal: WalStore, folder: string, name: string): Promise<string | undefined> {
  const path = join(folder, name);
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!content) return undefined;
  const written_at = (await stat(path)).mtime.toISOString();
  if (!(await wal.has(name))) await wal.write(name, { content, written_at });
  else if (!(await wal.read(name)).content.equals(content)) {
    throw new Error(
      `${wal.nameOf(name)} has other bytes than this service wrote: another copy of the service stores its WAL there. Give each copy its own BACKUP_URL.`,
    );
  }
  await rm(path, { force: true });
  return written_at;
}

interface KeptFile {
  sha256: string;
  kept_at: string;
}

/** Stores files added since the last scan, with lists of them. Returns the time of this scan. */
async function shipFiles(from: ShippedFrom, wal: WalStore, { files_until }: WalArchive): Promise<string> {
  const { query, blobs, store, known = new Set() } = from;
  const [clock] = await query<{ now: string; since: string }>(sql`
    select now() as now, (${files_until}::timestamptz - ${OVERLAP})::text as since`);
  if (!clock) throw new Error('the database did not report its time');
  const { now, since } = clock;
  if (known.size > KNOWN_MAX) known.clear();
  let after: KeptFile = { sha256: '', kept_at: since };
  for (let page = 0; ; page += 1) {
    const kept = await query<KeptFile>(sql`
      select sha256, kept_at::text as kept_at from blobs
      where (kept_at, sha256) > (${after.kept_at}::timestamptz, ${after.sha256}) and deleting_since is null
      order by kept_at, sha256 limit ${FILES_BATCH}`);
    const fresh = kept.filter((file) => !known.has(idOf(file)));
    const isThere = await mapAtOnce(fresh, ({ sha256 }) => copyFile(blobs, store, sha256));
    const there = fresh.filter((_, at) => isThere[at]);
    const names = there.map(({ sha256 }) => sha256);
    if (names.length > 0) await wal.writeList(page === 0 ? now : `${now}-${page}`, names);
    for (const file of there) known.add(idOf(file));
    const last = kept.at(-1);
    if (!last || kept.length < FILES_BATCH) return now;
    after = last;
  }
}

const idOf = ({ sha256, kept_at }: KeptFile) => `${sha256} ${kept_at}`;
