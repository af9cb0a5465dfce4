import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceFile } from './account.ts';
import { cleanEnvironment } from './environment.ts';
import type { Log, Place } from './place.ts';
import { StartError } from './start-error.ts';

export const SOCKET = '.s.PGSQL.5432';

/** Milliseconds that each signal may take to stop a server before the next signal is sent. */
const PATIENCE = { SIGINT: 20_000, SIGQUIT: 5_000, SIGKILL: 5_000 } as const;

/**
 * Stops a server: fast (sessions end, a checkpoint is written), then immediately (the next start recovers committed
 * data), then by force. Resolves to false if it survives all signals.
 */
export async function stopBy(tell: (signal: NodeJS.Signals) => void, over: () => boolean): Promise<boolean> {
  for (const [signal, patience] of Object.entries(PATIENCE)) {
    tell(signal as NodeJS.Signals);
    const end = performance.now() + patience;
    while (!over() && performance.now() < end) await delay(10);
    if (over()) return true;
  }
  return false;
}

/**
 * Stops the server that a killed Ibid left on this cluster, and removes its leftovers. The caller holds the lock on
 * DATA_DIR, so no living Ibid owns them.
 */
export async function stopOrphan(place: Place, log: Log): Promise<void> {
  const { cluster } = place;
  const [pid, , , , socketFolder] = readPidFile(cluster) ?? [];
  if (pid && isServer(Number(pid), cluster)) {
    log('warn', `an earlier Ibid ended without stopping its PostgreSQL (process ${pid}); stopping it now`);
    const stopped = await stopBy(
      (signal) => tell(Number(pid), signal),
      () => !isServer(Number(pid), cluster),
    );
    if (!stopped) throw new StartError(`Process ${pid} on ${cluster} does not stop: end it, or restart the machine.`);
  }
  clearStalePid(place);
  if (socketFolder && basename(socketFolder).startsWith('ibid-')) removeSocketFolder(socketFolder);
}

/**
 * Makes a stale postmaster.pid harmless. PostgreSQL takes any living process with that number for another server and
 * refuses to start, but ignores its parent's number, which is ours. The other lines stay: PostgreSQL uses them to check
 * whether processes of the old server still use its shared memory.
 */
export function clearStalePid({ cluster, account }: Place): void {
  const lines = readPidFile(cluster);
  if (lines) replaceFile(join(cluster, 'postmaster.pid'), [process.pid, ...lines.slice(1)].join('\n'), account);
  rmSync(join(cluster, `${SOCKET}.lock`), { force: true });
}

/**
 * Kills processes that outlive their killed server, such as sessions that still compute. No new server can start while
 * such a process lives. Without a readable /proc this does nothing, and the caller can only wait.
 */
export function endLeftovers(cluster: string): void {
  for (const name of readFolder('/proc')) {
    const pid = Number(name);
    const ours = pid > 0 && workingFolder(pid) === cluster && readText(`/proc/${pid}/cmdline`).startsWith('postgres: ');
    if (ours) tell(pid, 'SIGKILL');
  }
}

/** Removes our socket folder below the temporary folder, unless it contains foreign files. */
export function removeSocketFolder(folder: string): void {
  try {
    for (const name of [SOCKET, `${SOCKET}.lock`]) rmSync(join(folder, name), { force: true });
    rmdirSync(folder);
  } catch (error) {
    // Already removed, or another user's.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EACCES' && code !== 'EPERM') throw error;
  }
}

/**
 * Reads the lines of postmaster.pid: pid, data directory, start time, port, socket folder, listen address, shared
 * memory, status.
 */
export function readPidFile(cluster: string): string[] | undefined {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Tells from its command line whether a process is a server on this cluster. Another process may have got the number
 * since.
 */
export function isServer(pid: number, cluster: string): boolean {
  if (process.platform === 'linux') {
    const words = readText(`/proc/${pid}/cmdline`).split('\0');
    return words[words.indexOf('-D') + 1] === cluster;
  }
  const options = { encoding: 'utf8', env: cleanEnvironment() } as const;
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], options);
  return stdout.includes(` -D ${cluster} `);
}

/** Sends a signal. Errors are ignored if the process has ended or belongs to another user; callers wait for its end. */
function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

// If a process has ended since it was listed, or belongs to another user, these files and folders read as empty.

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function readFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
