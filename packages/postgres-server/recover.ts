import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { giveTree } from './account.ts';
import { findBinaries } from './binaries.ts';
import { clusterMajor, removeUnfinished, syncFolder, UNFINISHED, USER, writeSettings } from './cluster.ts';
import { lockPlace } from './lock-place.ts';
import { type Log, type Place, pointTo } from './place.ts';
import { restoreCommand, type Supply, serveWal } from './serve-wal.ts';
import { type Connection, chooseSocketFolder, PORT } from './server.ts';
import { StartError, toStartError } from './start-error.ts';
import { Supervisor } from './supervisor.ts';
import { makeWalFolder, walFolderOf } from './wal-folder.ts';

export interface Recovery<T> {
  /** The major version of the base backup. No other version can recover it. */
  major: number;
  /** The timeline to follow. */
  timeline: number;
  /** The time to stop at, in RFC 3339 and UTC; undefined for the end of the WAL. */
  moment: string | undefined;
  archivesWal: boolean;
  /** Writes the files of the base backup into a folder. */
  unpack(folder: string): Promise<void>;
  /** Returns a WAL file by name; undefined if the file does not exist. An error ends the recovery. */
  supply: Supply;
  /** Completes the recovered database, before it becomes the database of DATA_DIR. */
  complete(connection: Connection): Promise<T>;
}

/** PostgreSQL's error if no commit follows the target time: then the state at that time is the end of the WAL. */
const NOTHING_AFTER = /recovery ended before configured recovery target was reached/;

/**
 * Recovers a cluster from a base backup and WAL into a DATA_DIR without one. The cluster gets its final name last, so a
 * recovery that is killed leaves no cluster and can be repeated. Throws StartError, and errors of the functions in
 * `recovery`.
 */
export async function recoverPostgres<T>({ dataDir, log }: { dataDir: string; log: Log }, recovery: Recovery<T>) {
  const unlocks: (() => void)[] = [];
  try {
    const { folder, place } = lockPlace(dataDir, unlocks, log);
    if (clusterMajor(place)) throw new StartError(`${dataDir} already has a database: set a new DATA_DIR.`);
    const binaries = findBinaries(place, recovery.major, log);
    await removeUnfinished(place, log);
    // Leftovers of a killed recovery.
    rmSync(walFolderOf(place.cluster), { recursive: true, force: true });
    if (recovery.archivesWal) makeWalFolder(place);
    const [cluster = '', wal = ''] = [1, 2].map(() => mkdtempSync(join(place.folder, UNFINISHED)));
    await recovery.unpack(cluster);
    giveTo(place, cluster, wal);
    const unfinished = { ...place, cluster };
    writeSettings(unfinished, binaries, recovery.archivesWal);
    const setup = { place: unfinished, binaries, logFile: join(folder, 'postgres.log'), log };
    const completed = await runRecovery(setup, wal, recovery);
    rmSync(wal, { recursive: true });
    renameSync(cluster, place.cluster);
    syncFolder(place.folder);
    if (place.folder !== folder) pointTo(place.cluster, folder);
    return completed;
  } catch (error) {
    throw toStartError(error, dataDir);
  } finally {
    for (const release of unlocks) release();
  }
}

/**
 * Prepares the folders for recovery. PostgreSQL recovers a cluster with `recovery.signal`, and removes that file
 * afterwards.
 */
function giveTo({ account }: Place, cluster: string, wal: string): void {
  writeFileSync(join(cluster, 'recovery.signal'), '');
  chmodSync(cluster, 0o700);
  if (!account) return;
  giveTree(cluster, account);
  chownSync(wal, account.uid, account.gid);
}

type RecoverySetup = Omit<ConstructorParameters<typeof Supervisor>[0], 'connection' | 'settings'>;

async function runRecovery<T>(setup: RecoverySetup, wal: string, recovery: Recovery<T>): Promise<T> {
  const { moment, timeline } = recovery;
  const settings = {
    restore_command: restoreCommand(basename(wal)),
    recovery_target_timeline: String(timeline),
    recovery_target_action: 'promote',
    // No queries run before the recovery is complete.
    hot_standby: 'off',
  };
  const source = serveWal(wal, setup.place.account, recovery.supply);
  const run = (more: Record<string, string>) => start(setup, { ...settings, ...more });
  let server: Awaited<ReturnType<typeof start>>;
  try {
    server = await run(
      moment === undefined ? {} : { recovery_target_time: moment.replace('T', ' ').replace('Z', '+00') },
    ).catch((error: unknown) => {
      if (source.failure() || !NOTHING_AFTER.test((error as Error).message)) throw error;
      return run({});
    });
  } catch (error) {
    await source.stop();
    throw source.failure() ?? error;
  }
  try {
    await source.stop();
    const failure = source.failure();
    if (failure) throw failure;
    return await recovery.complete(server.connection);
  } finally {
    await server.stop();
  }
}

async function start(setup: RecoverySetup, settings: Record<string, string>) {
  const connection = { host: chooseSocketFolder(setup.place), port: PORT, user: USER, database: USER };
  const server = new Supervisor({ ...setup, connection, settings });
  await server.start();
  return { connection, stop: () => server.stop() };
}
