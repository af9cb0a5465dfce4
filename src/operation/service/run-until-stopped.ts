import { flushCompileCache } from 'node:module';
import { StartError } from '@ibid/postgres-server/start-error.ts';
import type { Logger } from 'pino';

/** How long an orderly stop may take before the process exits anyway. */
export const STOP_TIMEOUT_MS = 15_000;

interface Running {
  stop(): Promise<void>;
  /** Resolves when there is nothing more to do; undefined for what goes on for ever. */
  done?: Promise<void>;
}

/**
 * Starts something and lets it run until SIGINT, SIGTERM or its own end, then ends the process: with 0 after an orderly stop,
 * otherwise with 1.
 */
export async function runUntilStopped(log: Logger, start: () => Promise<Running>): Promise<void> {
  // Handled from the first moment: an aborted start would leave its PostgreSQL behind.
  let stopping = false;
  const stopAsked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        // npm forwards a signal that the terminal sends to both, so it arrives twice.
        if (stopping) return;
        stopping = true;
        log.info({ signal }, 'stopping');
        setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
        resolve();
      });
    }
  });
  const running = await start().catch((error: unknown) => {
    // A terminal's signal also reaches initdb, whose exit is then no failure.
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
    log.error({ err }, 'the stop was not orderly');
    process.exit(1);
  }
}
