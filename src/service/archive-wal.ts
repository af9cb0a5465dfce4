import { readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { openBackupStore } from '../backup/backup-store.ts';
import { readKey } from '../backup/encryption.ts';
import { type Shipped, shipWal, waitingWal } from '../backup/wal/ship-wal.ts';
import { recordGap } from '../backup/wal/wal-archive.ts';
import type { Config } from '../config.ts';
import { openDb } from '../db/db.ts';
import type { Postgres } from '../db/postgres/postgres.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { openObjects } from '../providers/storage/objects.ts';
import type { OnStop } from './hooks.ts';

/** How often it is looked for finished segments; after a failure, and while jobs are paused. */
const LOOK_MS = 1_000;
const PAUSE_MS = 10_000;

/** What waits may fill the disk until so much is left: four times as much as where writes are refused. */
export const WAL_MIN_FREE_BYTES = 2 ** 30;

/**
 * Stores the WAL of the service's own PostgreSQL in the place of backups, from the start to the stop. While that place is away, WAL waits
 * on the disk of DATA_DIR; when that is nearly full, what waits is given up, and only the next base backup leads on.
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

  /** Whether what waits had to be given up. */
  async function giveUp(): Promise<boolean> {
    const names = await waitingWal(folder);
    const { bavail, bsize } = await statfs(folder);
    if (names.length === 0 || bavail * bsize > WAL_MIN_FREE_BYTES) return false;
    // Recorded first: a base backup that is made because of it is newer than what is lost.
    await recordGap(db.query);
    for (const name of names) await rm(join(folder, name), { force: true });
    return true;
  }

  async function run(): Promise<void> {
    let hasFailed = false;
    while (!isStopped()) {
      let isWaiting = false;
      try {
        const shipped = await ship();
        isWaiting = shipped?.isPaused === true;
        if (shipped?.hasGap) log.error('WAL was lost before it was stored: the next base backup leads on');
        if (hasFailed && shipped && !isWaiting) log.info('WAL is stored again');
        hasFailed &&= !shipped;
      } catch (err) {
        if (!hasFailed) log.error({ err }, 'WAL cannot be stored, and waits on the disk');
        hasFailed = isWaiting = true;
      }
      if (
        isWaiting &&
        !isStopped() &&
        (await giveUp().catch((err: unknown) => void log.error({ err }, NOT_GIVEN_UP)))
      ) {
        log.error('WAL that could not be stored was removed, because the disk is nearly full: a base backup is needed');
      }
      await delay(isWaiting ? PAUSE_MS : LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = run();
  onStop(async () => {
    stopping.abort();
    await running;
    await db.close();
  });
}

const NOT_GIVEN_UP = 'the disk is nearly full, and WAL that waits on it could not be given up';
