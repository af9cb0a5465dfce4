import { flushCompileCache } from 'node:module';
import { pino } from 'pino';
import type { Config } from '../config.ts';
import { StartError } from '../core/start-error.ts';
import { startService } from './start-service.ts';

/** How long an orderly stop may take before the process exits anyway. */
const STOP_TIMEOUT_MS = 15_000;

/** Runs the service until SIGINT or SIGTERM, then ends the process: with 0 after an orderly stop, otherwise with 1. */
export async function runService(config: Config): Promise<void> {
  const log = pino({ level: config.LOG_LEVEL, base: undefined, timestamp: pino.stdTimeFunctions.isoTime });
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
  const service = await startService(config, log).catch((error: unknown) => {
    // A terminal's signal also reaches initdb, whose exit is then no failure.
    if (stopping) process.exit(0);
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`Ibid cannot start: ${error.message}\n`);
    process.exit(1);
  });
  process.stdout.write(
    service.address
      ? `Ibid serves ${service.address} (API description at ${service.address}/docs)\n${welcomeMessage(service.welcome)}`
      : 'Ibid works on jobs\n',
  );
  flushCompileCache();
  await stopAsked;
  try {
    await service.stop();
    process.exit(0);
  } catch (err) {
    log.error({ err }, 'the stop was not orderly');
    process.exit(1);
  }
}

function welcomeMessage(link: string | undefined): string {
  return link === undefined
    ? ''
    : `\nThere is no user yet. Open this link in a browser to create the first one:\n\n  ${link}\n\n`;
}
