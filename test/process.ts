import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { BUILT } from '../src/platform/core/package/package-files.ts';
import { openDb } from '../src/platform/db/db.ts';
import { cleanUp } from './clean-up.ts';
import { commandLines, signal } from './processes.ts';
import { until } from './until.ts';
import { makeDatabase, type World, worldOf } from './world.ts';

const MAIN = fileURLToPath(new URL('main.mjs', BUILT));

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The service as operators run it: `node dist/main.mjs` with options in its environment. */
export interface ServiceProcess {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves when the process prints that it is ready; rejects with its output if it ends first. */
  ready: Promise<void>;
  ended: Promise<Ended>;
  isOver(): boolean;
  kill(signal: NodeJS.Signals): void;
}

export interface SpawnOptions {
  /** Runs it as another user; needs root. */
  uid?: number;
  /** A file that receives its standard output. */
  log?: string;
}

/**
 * Starts the service with these options, without inheriting options from the environment. It is killed after the tests
 * if it still runs.
 */
export function spawnService(env: Record<string, string>, options: SpawnOptions = {}): ServiceProcess {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'info',
      RATE_LIMITS: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A folder that every user can access.
    cwd: '/',
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  });
  let stdout = '';
  let stderr = '';
  let over = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      over = true;
      resolve({ code, signal });
    });
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      if (options.log) appendFileSync(options.log, text);
      if (/^Ibid (serves|works)/m.test(stdout)) resolve();
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    ended.then((end) => reject(new Error(`the service ended (${JSON.stringify(end)}):\n${stdout}\n${stderr}`)), reject);
  });
  // Prevents an unhandled rejection: a test that expects the start to fail awaits only `ended`.
  ready.catch(() => undefined);
  cleanUp(async () => {
    if (!over) child.kill('SIGKILL');
    await ended;
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    ready,
    ended,
    isOver: () => over,
    kill: (signal) => void child.kill(signal),
  };
}

/** Makes a temporary folder. After the tests of the file, any PostgreSQL in it is stopped and the folder is removed. */
export async function makeFolder(mode = 0o755): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ibid-process-'));
  await chmod(folder, mode);
  cleanUp(async () => {
    for (const pid of await postgresIn(folder)) signal(pid, 'SIGKILL');
    await until(
      `no PostgreSQL in ${folder}`,
      () => postgresIn(folder),
      (pids) => pids.length === 0,
    );
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  });
  return folder;
}

/** Returns the pids of postmasters whose cluster is below a folder, found by their command lines. */
export async function postgresIn(folder: string): Promise<number[]> {
  return (await commandLines())
    .filter(([, line]) => /^\S*\/postgres /.test(line) && line.includes(` -D ${folder}/`))
    .map(([pid]) => pid);
}

/** Returns a service with its own PostgreSQL that can be restarted with the same port and the same folder. */
export async function openRestartableService() {
  const dataDir = join(await makeFolder(), 'data');
  const port = await freePort();
  return {
    dataDir,
    address: `http://127.0.0.1:${port}`,
    async start(): Promise<ServiceProcess> {
      const service = spawnService({ PORT: String(port), DATA_DIR: dataDir });
      await service.ready;
      return service;
    },
  };
}

/**
 * Returns a service whose processes are started one by one, each with its role, on an external database; and clients of
 * its web process.
 */
export async function openRoles(env: Record<string, string> = {}) {
  const [database, port, DATA_DIR] = await Promise.all([makeDatabase(), freePort(), makeFolder()]);
  const world = worldOfProcess(`http://127.0.0.1:${port}`, database);
  cleanUp(() => world.db.close());
  return {
    port,
    dataDir: DATA_DIR,
    world,
    async start(ROLE: 'all' | 'web' | 'worker'): Promise<ServiceProcess> {
      const place = { PORT: String(port), DATA_DIR, DATABASE_URL: database };
      const service = spawnService({ ...place, LOG_LEVEL: 'error', ROLE, ...env });
      await service.ready;
      return service;
    },
  };
}

/** Starts a service that only answers requests, on an external database, and returns clients of it. */
export async function startWebService(
  env: Record<string, string> = {},
): Promise<{ port: number; service: ServiceProcess; world: World }> {
  const { port, world, start } = await openRoles(env);
  return { port, service: await start('web'), world };
}

/** Returns a free port, from below the range that the system assigns to outgoing connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/**
 * Returns clients of a service process, and access to its database. `connection`: the URL of the database, or the
 * `dataDir` of a service with its own PostgreSQL.
 */
export function worldOfProcess(address: string, connection: string | { dataDir: string }): World & Disposable {
  const db = openDb({
    connection:
      typeof connection === 'string' ? { connectionString: connection } : (runningPostgres(connection.dataDir) ?? {}),
    connections: 4,
    onConnectionLost: () => undefined,
  });
  const world = worldOf(db, address);
  return { ...world, [Symbol.dispose]: () => void db.close() };
}
