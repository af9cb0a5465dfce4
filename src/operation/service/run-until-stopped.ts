import { flushCompileCache } from 'node:module';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { Logger } from 'pino';

/** Time limit of an orderly stop, after which the process exits. */
export const STOP_TIMEOUT_MS = 15_000;

interface Running {
  stop(): Promise<void>;
  /** Resolves when all work is done; undefined if the work never ends. */
  done?: Promise<void>;
}

/**
 * Starts something and runs it until SIGINT, SIGTERM or its own end. Then exits the process, with 0 after an orderly
 * stop and otherwise with 1.
 */
export async function runUntilStopped(log: Logger, start: () => Promise<Running>): Promise<void> {
  // Handle signals from the beginning: an aborted start would leave its PostgreSQL running.
  let stopping = false;
  const stopAsked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        // npm forwards signals that the terminal sends to both processes, so they arrive twice.
        if (stopping) return;
        stopping = true;
        log.info({ signal }, 'stopping');
        setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
        resolve();
      });
    }
  });
  const running = await start().catch((error: unknown) => {
    // A terminal's signal also reaches initdb, so its failure is then expected.
    if (stopping) process.exit(0);
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`Ibid cannot start: ${error.message}\n`);
    process.exit(1);
  });
  flushCompileCache();
  await Promise.race([stopAsked, running.done ?? stopAsked]);
  setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
  try {
    await running.stop();
    process.exit(0);
  } catch (err) {
    log.error({ err }, 'shutdown was not clean');
    process.exit(1);
  }
}
