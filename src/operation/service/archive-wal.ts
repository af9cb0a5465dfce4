import { readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Postgres } from '@ibid/postgres-server/postgres.ts';
import type { Logger } from 'pino';
import { openDb } from '../../platform/db/db.ts';
import type { Blobs } from '../../platform/providers/storage/blobs.ts';
import { openObjects } from '../../platform/providers/storage/objects.ts';
import { openBackupStore } from '../backup/backup-store.ts';
import { readKey } from '../backup/encryption.ts';
import { type Shipped, shipWal, waitingWal } from '../backup/wal/ship-wal.ts';
import { recordGap } from '../backup/wal/wal-archive.ts';
import type { Config } from '../config.ts';
import type { OnStop } from './hooks.ts';

/** How often to check for finished segments, normally and after a failure or while jobs are paused. */
const LOOK_MS = 1_000;
const PAUSE_MS = 10_000;

/** Waiting WAL may fill the disk down to this free space, four times the level at which writes are refused. */
const MIN_FREE_BYTES = 2 ** 30;

/**
 * Maximum number of waiting segments while jobs are paused (1 GiB), because a restored copy may stay paused for long.
 */
const PAUSED_MAX = 64;

/**
 * Stores the WAL of the service's own PostgreSQL in the backup store, from start to stop. While the store is
 * unavailable, WAL waits on the disk of DATA_DIR. When the disk is nearly full, waiting WAL is deleted, and later
 * moments need another base backup.
 */
export function archiveWal(
  config: Config,
  { connection, walFolder: folder }: Pick<Postgres, 'connection' | 'walFolder'>,
  blobs: Pick<Blobs, 'stream'>,
  log: Logger,
  onStop: OnStop,
): void {
  const stopping = new AbortController();
  const isStopped = () => stopping.signal.aborted;
  const db = openDb({ connection, connections: 1, onConnectionLost: () => undefined });
  const known = new Set<string>();

  async function ship(): Promise<Shipped | undefined> {
    if ((await waitingWal(folder)).length === 0) return undefined;
    const { BACKUP_KEY_FILE, BACKUP_URL = '', DATA_DIR } = config;
    const key = BACKUP_KEY_FILE === undefined ? undefined : readKey(await readFile(BACKUP_KEY_FILE, 'utf8'));
    const objects = await openObjects('BACKUP_URL', BACKUP_URL, join(DATA_DIR, 'backup-incoming'));
    try {
      const store = openBackupStore(objects, key);
      return await db.session((query) => shipWal({ query, blobs, store, folder, known }, isStopped));
    } finally {
      objects.close();
    }
  }

  /** Deletes the waiting WAL if it takes too much space; returns whether it did. */
  async function giveUp(isPaused: boolean): Promise<boolean> {
    const names = await waitingWal(folder);
    const { bavail, bsize } = await statfs(folder);
    const isTooMuch = bavail * bsize < MIN_FREE_BYTES || (isPaused && names.length > PAUSED_MAX);
    if (names.length === 0 || !isTooMuch) return false;
    // Record the gap first, so that a base backup made because of it is newer than the lost WAL.
    await recordGap(db.query);
    for (const name of names) await rm(join(folder, name), { force: true });
    return true;
  }

  let hasFailed = false;
  /** Ships waiting WAL; returns the pause before the next check. */
  async function look(): Promise<number> {
    let isPaused = false;
    try {
      const shipped = await ship();
      isPaused = shipped?.isPaused === true;
      if (shipped?.hasGap) log.error('WAL was lost before it was stored; recovery to later moments needs a new backup');
      if (hasFailed && shipped && !isPaused) log.info('WAL is stored again');
      hasFailed &&= !shipped;
    } catch (err) {
      if (!hasFailed) log.error({ err }, 'WAL cannot be stored and accumulates on the disk');
      hasFailed = true;
    }
    if (!hasFailed && !isPaused) return LOOK_MS;
    if (!isStopped() && (await giveUp(isPaused))) {
      log.error(
        { isPaused },
        'WAL that was waiting to be stored was discarded; recovery to later moments needs a new backup',
      );
    }
    return PAUSE_MS;
  }

  async function run(): Promise<void> {
    while (!isStopped()) {
      const pause = await look().catch((err: unknown) => {
        log.error({ err }, 'WAL accumulates on the disk and could not be discarded');
        return PAUSE_MS;
      });
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = run();
  onStop(async () => {
    stopping.abort();
    await running;
    await db.close();
  });
}
