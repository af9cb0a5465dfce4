import type { Config } from '../config.ts';
import { openLog } from './open-log.ts';
import { runUntilStopped } from './run-until-stopped.ts';
import { startWorkerProcess } from './worker-process.ts';

/** How long its stop may take when the service is gone. */
const ORPHAN_MS = 2_000;

/**
 * Works on jobs until it is stopped or idle, or the service that started this process is gone: a service that was killed
 * leaves nothing behind.
 */
export async function runWorker(config: Config): Promise<void> {
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), ORPHAN_MS);
    // An orderly stop, so that no file is suspected of what has ended the service.
    process.emit('SIGTERM');
  });
  if (!process.connected) process.exit(1);
  const log = openLog(config);
  await runUntilStopped(log, async () => {
    const { stop, idle } = await startWorkerProcess(config, log);
    return { stop, done: idle };
  });
}
