import type { Config } from '../config.ts';
import { openLog } from './open-log.ts';
import { runUntilStopped } from './run-until-stopped.ts';
import { startWorkerProcess } from './worker-process.ts';

/** Time limit of the stop after the service is gone. */
const ORPHAN_MS = 2_000;

/**
 * Runs jobs until it is stopped or idle, or until the service that started this process is gone, so that a killed
 * service leaves no process running.
 */
export async function runWorker(config: Config): Promise<void> {
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), ORPHAN_MS);
    // Stop orderly, so that no file is suspected of having ended the service.
    process.emit('SIGTERM');
  });
  if (!process.connected) process.exit(1);
  const log = openLog(config);
  await runUntilStopped(log, async () => {
    const { stop, idle } = await startWorkerProcess(config, log);
    return { stop, done: idle };
  });
}
