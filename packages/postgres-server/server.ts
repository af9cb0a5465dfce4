import { type ChildProcess, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Account, canEnter } from './account.ts';
import type { Binaries } from './binaries.ts';
import { explain, SUPERUSER, USER } from './cluster.ts';
import { cleanEnvironment } from './environment.ts';
import type { Log, Place } from './place.ts';
import { SOCKET } from './processes.ts';
import { SERVICE_ROLE } from './roles.ts';
import { StartError } from './start-error.ts';

export interface Connection {
  host: string;
  port: number;
  user: string;
  database: string;
  password?: string;
}

export interface Server {
  child: ChildProcess;
  /** Resolves to the reason of its end. Never rejects. */
  ended: Promise<string>;
  isOver(): boolean;
}

export interface Setup {
  place: Place;
  binaries: Binaries;
  connection: Connection;
  logFile: string;
  log: Log;
  /** Settings for this run alone. */
  settings?: Readonly<Record<string, string>>;
}

/** Only part of the socket's file name: the server does not listen on a network. */
export const PORT = 5432;

/** The longest path of a Unix socket. */
const LONGEST_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107;
const LONGEST_SILENCE_MS = 60_000;

/**
 * Chooses the cluster as the folder of the socket or, if the path would be too long, a temporary folder with a random
 * name.
 */
export function chooseSocketFolder({ cluster, account }: Place): string {
  const fits = (folder: string) => Buffer.byteLength(join(folder, SOCKET)) <= LONGEST_SOCKET_PATH;
  if (fits(cluster)) return cluster;
  const parent = [tmpdir(), '/tmp'].find((folder) => {
    return fits(join(folder, 'ibid-XXXXXX')) && (!account || canEnter(folder, account));
  });
  if (!parent) throw new StartError(`The path ${cluster} is too long for a socket: set DATA_DIR to a shorter one.`);
  const folder = mkdtempSync(join(parent, 'ibid-'));
  if (account) chownSync(folder, account.uid, account.gid);
  return folder;
}

/**
 * Ensures that the socket folder exists and is ours. A temporary folder may have been removed, and another user who
 * took its name must not get our connections.
 */
function ensureSocketFolder(folder: string, account: Account | undefined): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) {
    mkdirSync(folder, { mode: 0o700 });
    if (account) chownSync(folder, account.uid, account.gid);
    return;
  }
  const owner = account?.uid ?? process.getuid?.();
  if (!found.isDirectory() || found.uid !== owner || found.mode & 0o022) {
    throw new StartError(`${folder} must be a folder that only user ${owner} can write to: change its owner and mode.`);
  }
}

/**
 * Starts a server in its own session, so that Ctrl-C in the terminal reaches only Ibid, which stops the server last.
 */
export function launch({ place, binaries, connection, logFile, settings = {} }: Setup): Server {
  ensureSocketFolder(connection.host, place.account);
  const handle = openSync(logFile, 'a', 0o600);
  const begin = fstatSync(handle).size;
  const folders = `"${connection.host.replaceAll('"', '""')}"`;
  // Passed as arguments, because `alter system` must not be able to open the server to other users.
  const fixed = [
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${folders}`,
    '-c',
    `port=${connection.port}`,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const child = spawn(join(binaries.folder, 'postgres'), ['-D', place.cluster, ...fixed], {
    ...place.account,
    cwd: '/',
    env: cleanEnvironment(),
    detached: true,
    stdio: ['ignore', handle, handle],
  });
  closeSync(handle);
  let over = false;
  const ended = new Promise<string>((resolve) => {
    const end = (reason: string) => {
      over = true;
      resolve(reason);
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (_, signal) =>
      end(signal ? `it was terminated by ${signal}` : explain(readFrom(logFile, begin))),
    );
  });
  return { child, ended, isOver: () => over };
}

function readFrom(logFile: string, begin: number): string {
  // The log may have been removed, which must not affect supervision.
  if (!existsSync(logFile)) return '';
  return readFileSync(logFile).subarray(begin).toString();
}

/**
 * Waits until the server accepts a connection of Ibid's user, creating user and database the first time. Returns
 * undefined, or the reason why the server ended. Crash recovery has no time limit.
 */
export async function untilReady(server: Server, { connection, log }: Setup): Promise<string | undefined> {
  const begin = performance.now();
  let lastProgressAt = begin;
  let nextMessageAt = begin + 10_000;
  while (!server.isOver()) {
    const code = await refusal(connection);
    if (code === undefined) return undefined;
    const now = performance.now();
    if (code === '28000') {
      throw new StartError(`PostgreSQL rejects its own user (${code}): see its log in DATA_DIR.`);
    }
    if (code === '57P03') lastProgressAt = now;
    if (now - lastProgressAt > LONGEST_SILENCE_MS)
      throw new StartError('PostgreSQL started but does not answer: see its log in DATA_DIR.');
    if (now > nextMessageAt) {
      log('info', 'PostgreSQL is recovering committed data after a crash');
      nextMessageAt = now + 10_000;
    }
    // The server logs each refusal, so a long recovery is polled less often.
    await delay(now - begin < 1000 ? 10 : 100);
  }
  return server.ended;
}

/**
 * Connects as initdb's superuser and ensures that user and database exist. Returns undefined, or the error code if they
 * cannot be ensured: the server may be starting up or shutting down.
 */
async function refusal({ host, port, database }: Connection): Promise<string | undefined> {
  const superuser = { host, port, user: SUPERUSER, database: 'postgres', ssl: false };
  const client = new pg.Client({ ...superuser, connectionTimeoutMillis: 10_000 });
  // connect() and query() already report connection errors; without a listener such an error would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await makeDatabase(client, database);
    return undefined;
  } catch (error) {
    const { code = 'broken' } = error as { code?: string };
    if (error instanceof pg.DatabaseError && !/^(28|57P)/.test(code)) throw error;
    return code;
  } finally {
    await client.end();
  }
}

/** Creates roles and database at the first start, and checks them at later starts: completed steps are no error. */
async function makeDatabase(client: pg.Client, database: string): Promise<void> {
  for (const [statement, doneAlready] of [
    [`create role ${USER} login createdb`, '42710'],
    [`create database ${database} owner ${USER}`, '42P04'],
    [`create role ${SERVICE_ROLE} nologin`, '42710'],
    [`grant ${SERVICE_ROLE} to ${USER}`, ''],
  ] as const) {
    await client.query(statement).catch((error: { code?: string }) => {
      if (error.code !== doneAlready) throw error;
    });
  }
}
