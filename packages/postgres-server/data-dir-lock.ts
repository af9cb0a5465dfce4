import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './start-error.ts';

const SQLITE_BUSY = 5;

/**
 * Locks `folder` for this process alone, until the returned function is called or the process ends, even by kill -9.
 *
 * The lock is the kernel's (fcntl), reached through SQLite because Node has no call for it. An advisory lock inside
 * PostgreSQL would not suffice: it is free while a killed server restarts, and a second Ibid could take it. This one
 * also holds between containers that share a volume. Nothing else may open `postgres.lock` in this process: closing any
 * handle of a file releases all fcntl locks on it.
 */
export function lockFolder(folder: string): () => void {
  const lockFile = join(folder, 'postgres.lock');
  const pidFile = join(folder, 'ibid.pid');
  let held: DatabaseSync | undefined;
  try {
    held = new DatabaseSync(lockFile);
    held.exec('pragma journal_mode = memory; begin exclusive'); // No second file, which could not be written on a full disk.
    chmodSync(lockFile, 0o600); // Every user who can read a file can lock it.
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (error) {
    held?.close();
    const { errcode, code, message } = error as Error & { errcode?: number; code?: string };
    if (code !== 'ERR_SQLITE_ERROR') throw error;
    if (errcode !== SQLITE_BUSY) {
      throw new StartError(
        `DATA_DIR ${folder} cannot be locked (${message}): run Ibid as the user who created it, or set DATA_DIR to a local disk.`,
        { cause: error },
      );
    }
    const holder = readHolder(pidFile);
    throw new StartError(
      `DATA_DIR ${folder} is in use by another Ibid${holder ? ` (process ${holder})` : ''}: stop it or set DATA_DIR to another folder.`,
    );
  }
  const lock = held;
  HELD.add(lock);
  return () => {
    HELD.delete(lock);
    lock.close();
  };
}

/** Keeps databases reachable: if one is garbage collected, its file is closed and the lock released. */
const HELD = new Set<DatabaseSync>();

/** Reads the holder's pid for error messages. A new holder may not have written it yet. */
function readHolder(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
