import assert from 'node:assert/strict';
import { cpuOf, memoryOf } from '../../bench/processes.ts';
import type { Send } from '../keep-alive.ts';
import { freePort, makeFolder, type ServiceProcess, spawnService } from '../process.ts';
import { makeDatabase, openOwner, type World, worldOf } from '../world.ts';

/** The service in its own process, so that its crashes, memory and CPU time can be observed. */
export interface FuzzedService {
  world: World;
  /** Throws if the process has ended since the last call, and restarts it, so that other cases can run. */
  assertAlive(): Promise<void>;
  /** CPU time of the process and its descendants, in ms. */
  cpuMs(): number;
  /** Resident memory of the process and its descendants, in MB. */
  memoryMb(): number;
  /** Returns the log lines since the last call. */
  takeLog(): string;
  /** Stops the service, and starts it again with other options. */
  restart(more: Record<string, string>): Promise<void>;
  /** Kills the service without warning, and restarts it. */
  crash(): Promise<void>;
  env: Record<string, string>;
}

/** Starts the service on a new database, and logs errors only. It is stopped after the tests of the file. */
export async function openFuzzedService(more: Record<string, string> = {}, sender?: Send): Promise<FuzzedService> {
  const database = await makeDatabase();
  const port = await freePort();
  let env: Record<string, string> = {
    LOG_LEVEL: 'error',
    RATE_LIMITS: 'off',
    // The log is written at any time, and contains paths as requested, which may have ids of another workspace.
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
