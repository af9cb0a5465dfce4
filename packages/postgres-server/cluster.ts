import { spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { namesAllowedIn, replaceFile } from './account.ts';
import type { Binaries } from './binaries.ts';
import { cleanEnvironment } from './environment.ts';
import { isMade, type Log, type Place } from './place.ts';
import { stopOrphan } from './processes.ts';
import { StartError } from './start-error.ts';
import { ARCHIVE_SETTINGS } from './wal-folder.ts';

/** The superuser that initdb creates. Ibid itself connects as USER, who is not a superuser. */
export const SUPERUSER = 'postgres';
export const USER = 'ibid';

/** Prefix of the names of temporary folders, which are useless once the process that made them has ended. */
export const UNFINISHED = 'postgres-unfinished-';

/** Returns the major version that created the cluster; undefined if there is no cluster yet. */
export function clusterMajor(place: Place): number | undefined {
  if (!isMade(place.cluster)) return undefined;
  return Number(readFileSync(join(place.cluster, 'PG_VERSION'), 'utf8').trim());
}

/** Removes the leftovers of a start that was killed during `makeCluster`, and of a killed recovery. */
export async function removeUnfinished(place: Place, log: Log): Promise<void> {
  for (const name of readdirSync(place.folder)) {
    if (!name.startsWith(UNFINISHED)) continue;
    await stopOrphan({ ...place, cluster: join(place.folder, name) }, log);
    // initdb of the killed start may still be running there, and rmSync stops half-way when a file disappears.
    await rm(join(place.folder, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

/**
 * Creates an empty cluster under a temporary name, has initdb flush it to disk, then renames it: a start that is killed
 * in between leaves nothing that looks like a cluster.
 */
export async function makeCluster(place: Place, binaries: Binaries): Promise<void> {
  const unfinished = mkdtempSync(join(place.folder, UNFINISHED));
  if (place.account) chownSync(unfinished, place.account.uid, place.account.gid);
  const initdb = spawn(
    join(binaries.folder, 'initdb'),
    [`--pgdata=${unfinished}`, `--username=${SUPERUSER}`, '--auth=peer', '--data-checksums', ...localeOf(binaries)],
    // initdb reports each step on the pipe, so it dies of the closed pipe soon after we are killed.
    { ...place.account, cwd: '/', env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<number | null>((resolve, reject) => initdb.once('error', reject).once('close', resolve));
  const [status, , complaint] = await Promise.all([ended, text(initdb.stdout), text(initdb.stderr)]);
  if (status !== 0) {
    rmSync(unfinished, { recursive: true, force: true });
    throw new StartError(`PostgreSQL's files could not be created in ${place.folder}: ${explain(complaint)}`);
  }
  renameSync(unfinished, place.cluster);
  syncFolder(place.folder);
}

/**
 * Text is sorted by bytes, the same on every machine; character classes are Unicode's, because plain C would limit
 * `lower('É')` and text search to ASCII.
 */
function localeOf({ major }: Binaries): string[] {
  const bytes = ['--encoding=UTF8', '--locale=C'];
  if (major >= 17) return [...bytes, '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  return [...bytes, `--lc-ctype=${process.platform === 'darwin' ? 'UTF-8' : 'C.UTF-8'}`];
}

/** Returns the reason of a failure from the output of a server or initdb, with advice if the failure is known. */
export function explain(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.findLast((line) => /PANIC:|FATAL:|error:/.test(line)) ?? lines.at(-1) ?? 'it gave no reason';
  const reason = telling.replace(/^.*?(PANIC|FATAL|error): */, '').replace(/\.?$/, '');
  if (/No space left|quota exceeded/i.test(reason)) {
    return `${reason}. Free some space, or set DATA_DIR to another disk.`;
  }
  if (/could not look up effective user/.test(reason)) {
    return `${reason}. PostgreSQL needs a user with a name: add one to /etc/passwd, or set DATABASE_URL.`;
  }
  if (/ownership|permissions|Permission denied/i.test(reason)) {
    return `${reason}. Restore the owner and mode, or set DATA_DIR to a file system that supports them.`;
  }
  return `${reason}. If the problem persists, set DATABASE_URL to another PostgreSQL.`;
}

/**
 * Writes the settings at each start, so that they change with Ibid. `alter system` overrides them permanently.
 * `archivesWal`: copy finished WAL segments to the folder next to the cluster.
 */
export function writeSettings({ cluster, account }: Place, { major }: Binaries, archivesWal: boolean): void {
  const allowedIn = namesAllowedIn(account).flatMap((name) =>
    [USER, SUPERUSER].map((user) => `${USER} "${name}" ${user}\n`),
  );
  const archive = archivesWal ? ARCHIVE_SETTINGS : '';
  replaceFile(join(cluster, 'postgresql.conf'), settings(major) + archive, account);
  replaceFile(join(cluster, 'pg_hba.conf'), `local all,replication all peer map=${USER}\n`, account);
  replaceFile(join(cluster, 'pg_ident.conf'), allowedIn.join(''), account);
}

/** Copies the settings made with `alter system`. */
export function takeSettings(from: Place, to: Place): void {
  const set = readFileSync(join(from.cluster, 'postgresql.auto.conf'), 'utf8');
  replaceFile(join(to.cluster, 'postgresql.auto.conf'), set, to.account);
}

/** Makes renames in the folder durable. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

const settings = (major: number): string => `# Written by Ibid at each start. Use ALTER SYSTEM for settings of your own.

# The only way to connect is the socket, which only its owner can reach.
listen_addresses = ''
unix_socket_permissions = 0700

# An answered write has reached the disk.
fsync = on
full_page_writes = on
synchronous_commit = on
wal_compression = on
max_wal_size = 512MB

# One small machine, shared with the service.
max_connections = 60
shared_buffers = 32MB
maintenance_work_mem = 32MB
huge_pages = off
jit = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
max_logical_replication_workers = 0
max_wal_senders = 3
autovacuum_max_workers = 2
autovacuum_naptime = 10s
${major >= 18 ? 'io_method = sync\nautovacuum_worker_slots = 2\n' : ''}
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'

# Statements that Ibid refuses by raising an error are no news: only the server's own fate is written down.
log_min_messages = log
log_min_error_statement = panic
log_checkpoints = off
log_autovacuum_min_duration = -1
log_line_prefix = '%m [%p] %q%u@%d '
`;
