import assert from 'node:assert/strict';
import { cpuOf, memoryOf } from '../../bench/processes.ts';
import type { Send } from '../keep-alive.ts';
import { freePort, makeFolder, type ServiceProcess, spawnService } from '../process.ts';
import { makeDatabase, openOwner, type World, worldOf } from '../world.ts';

/** The service as a process of its own, so that its death, its memory and its CPU time are seen. */
export interface FuzzedService {
  world: World;
  /** Fails when the process has ended since the last call, and starts it again, so that other cases can run. */
  assertAlive(): Promise<void>;
  /** CPU time of the process and all processes that it started, in ms. */
  cpuMs(): number;
  /** Resident memory of the process and all processes that it started, in MB. */
  memoryMb(): number;
  /** What it has logged since the last call. */
  takeLog(): string;
  /** Ends it, and starts it again with other options. */
  restart(more: Record<string, string>): Promise<void>;
  /** Kills it in the middle of everything, and starts it again. */
  crash(): Promise<void>;
  env: Record<string, string>;
}

/** Starts it on a new database, with a log of errors. It is stopped after the tests of the file. */
export async function openFuzzedService(more: Record<string, string> = {}, sender?: Send): Promise<FuzzedService> {
  const database = await makeDatabase();
  const port = await freePort();
  let env: Record<string, string> = {
    LOG_LEVEL: 'error',
    RATE_LIMITS: 'off',
    // It is written at any time, and has what callers ask for, such as ids of another workspace in the paths of their calls.
    REQUEST_LOG_SIZE: '0',
    ...more,
    PORT: String(port),
    DATA_DIR: await makeFolder(),
    DATABASE_URL: database,
  };
  let process: ServiceProcess;
  let logged = 0;
  const start = async () => {
    process = spawnService(env);
    logged = 0;
    await process.ready;
  };
  await start();
  const world = worldOf(openOwner(database), `http://127.0.0.1:${port}`, [], sender);
  return {
    world,
    env,
    async assertAlive() {
      if (!process.isOver()) return;
      const end = await process.ended;
      const said = (process.stderr() || process.stdout()).slice(-1_500);
      await start();
      assert.fail(`the process of the service ended: ${JSON.stringify(end)}\n${said}`);
    },
    cpuMs() {
      const { own_ms, children_ms } = cpuOf(process.pid);
      return own_ms + children_ms;
    },
    memoryMb: () => memoryOf(process.pid).rss_mb,
    takeLog() {
      const text = process.stdout().slice(logged);
      logged += text.length;
      return text;
    },
    async restart(options) {
      process.kill('SIGTERM');
      await process.ended;
      env = { ...env, ...options };
      await start();
    },
    async crash() {
      process.kill('SIGKILL');
      await process.ended;
      await start();
    },
  };
}
