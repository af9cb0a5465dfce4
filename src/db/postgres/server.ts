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
import { StartError } from '../../core/start-error.ts';
import { SERVICE_ROLE } from '../db.ts';
import { type Account, canEnter } from './account.ts';
import type { Binaries } from './binaries.ts';
import { cleanEnvironment, explain, SUPERUSER, USER } from './cluster.ts';
import type { Log, Place } from './place.ts';
import { SOCKET } from './processes.ts';

export interface Connection {
  host: string;
  port: number;
  user: string;
  database: string;
  password?: string;
}

export interface Server {
  child: ChildProcess;
  /** Why it ended. Never rejects. */
  ended: Promise<string>;
  isOver(): boolean;
}

export interface Setup {
  place: Place;
  binaries: Binaries;
  connection: Connection;
  log_file: string;
  log: Log;
}

/** Names the socket's file only: nothing listens on a network. */
export const PORT = 5432;

/** The longest path that fits into a socket's address. */
const LONGEST_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107;
const LONGEST_SILENCE_MS = 60_000;

/** The cluster itself holds the socket, or, where its path is too long, a folder of random name among the temporary files. */
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

/** A temporary folder may have been cleaned away since; another owner of its name must not get our connections. */
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

/** Starts a server in a session of its own, so that a Ctrl-C in the terminal reaches Ibid alone, which stops it last. */
export function launch({ place, binaries, connection, log_file }: Setup): Server {
  ensureSocketFolder(connection.host, place.account);
  const handle = openSync(log_file, 'a', 0o600);
  const begin = fstatSync(handle).size;
  const folders = `"${connection.host.replaceAll('"', '""')}"`;
  // Given here, because `alter system` must not be able to open the server to others.
  const fixed = [
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${folders}`,
    '-c',
    `port=${connection.port}`,
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
    child.once('exit', (_, signal) => end(signal ? `it was ended by ${signal}` : explain(readFrom(log_file, begin))));
  });
  return { child, ended, isOver: () => over };
}

function readFrom(log_file: string, begin: number): string {
  // The log may have been removed, which is no reason to lose sight of the server.
  if (!existsSync(log_file)) return '';
  return readFileSync(log_file).subarray(begin).toString();
}

/**
 * Waits until the server takes a connection of Ibid's, making user and database the first time.
 * Returns undefined, or why the server ended before. Recovery after a crash may take as long as it takes.
 */
export async function untilReady(server: Server, { connection, log }: Setup): Promise<string | undefined> {
  const begin = performance.now();
  let last_sign = begin;
  let next_word = begin + 10_000;
  while (!server.isOver()) {
    const code = await refusal(connection);
    if (code === undefined) return undefined;
    const now = performance.now();
    if (code === '28000') {
      throw new StartError(`PostgreSQL refuses its own user (${code}): its log in DATA_DIR says why.`);
    }
    if (code === '57P03') last_sign = now;
    if (now - last_sign > LONGEST_SILENCE_MS)
      throw new StartError('PostgreSQL started and does not answer: its log in DATA_DIR says why.');
    if (now > next_word) {
      log('info', 'PostgreSQL is recovering what was committed before it ended');
      next_word = now + 10_000;
    }
    // The server logs each refusal, so a long recovery is asked about less often.
    await delay(now - begin < 1000 ? 10 : 100);
  }
  return server.ended;
}

/**
 * Connects as the superuser that initdb made and sees to what the service needs. undefined when that is there, otherwise
 * the code of what stood in the way: the server may be on its way up, and also down again.
 */
async function refusal({ host, port, database }: Connection): Promise<string | undefined> {
  const superuser = { host, port, user: SUPERUSER, database: 'postgres', ssl: false };
  const client = new pg.Client({ ...superuser, connectionTimeoutMillis: 10_000 });
  // What befalls the connection is told by connect() and query() already; without a listener it would end the process.
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

/** Made at the first start and looked after at each: a step that was done before is no error. */
async function makeDatabase(client: pg.Client, database: string): Promise<void> {
  for (const [statement, done_already] of [
    [`create role ${USER} login createdb`, '42710'],
    [`create database ${database} owner ${USER}`, '42P04'],
    [`create role ${SERVICE_ROLE} nologin`, '42710'],
    [`grant ${SERVICE_ROLE} to ${USER}`, ''],
  ] as const) {
    await client.query(statement).catch((error: { code?: string }) => {
      if (error.code !== done_already) throw error;
    });
  }
}
