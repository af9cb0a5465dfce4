import type { Config } from '../config.ts';
import { openLog } from './open-log.ts';
import { runUntilStopped } from './run-until-stopped.ts';
import { startWorkerProcess } from './worker-process.ts';

/**
 * Works on jobs until it is stopped or idle, or the service that started this process is gone: a service that was killed
 * leaves nothing behind.
 */
export async function runWorker(config: Config): Promise<void> {
  process.once('disconnect', () => process.exit(1));
  if (!process.connected) process.exit(1);
  const log = openLog(config);
  await runUntilStopped(log, async () => {
    const { stop, idle } = await startWorkerProcess(config, log);
    return { stop, done: idle };
  });
}
