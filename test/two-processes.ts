import { cleanUp } from './clean-up.ts';
import { freePort, makeFolder, type ServiceProcess, spawnService, worldOfProcess } from './process.ts';
import { type Client, makeDatabase, type World, worldOf } from './world.ts';

/** Two service processes on one database, as on two machines. */
export interface TwoProcesses {
  world: World;
  other: World;
  processes: ServiceProcess[];
  /** Returns the same caller at each of the processes. */
  atBoth(client: Client): [Client, Client];
}

/** Starts two processes that log only errors; they are stopped after the tests of the file. */
export async function startTwoProcesses(env: Record<string, string> = {}): Promise<TwoProcesses> {
  const database = await makeDatabase();
  const folder = await makeFolder();
  const start = async () => {
    const port = await freePort();
    const options = { LOG_LEVEL: 'error', RATE_LIMITS: 'off', ...env };
    const process = spawnService({ ...options, PORT: String(port), DATA_DIR: folder, DATABASE_URL: database });
    await process.ready;
    return { process, address: `http://127.0.0.1:${port}` };
  };
  const [one, two] = await Promise.all([start(), start()]);
  const world = worldOfProcess(one.address, database);
  cleanUp(() => world.db.close());
  const other = worldOf(world.db, two.address);
  return {
    world,
    other,
    processes: [one.process, two.process],
    atBoth: (client) => [world.as(client.token, client.user_id), other.as(client.token, client.user_id)],
  };
}
