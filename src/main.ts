import { pino } from 'pino';
import { keepCompiledCode } from './compiled-code.ts';
import { ConfigError, readConfig } from './config.ts';
import { StartError } from './core/start-error.ts';

/** How long an orderly stop may take before the process exits anyway. */
const STOP_TIMEOUT_MS = 15_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
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
  const compiled = keepCompiledCode(config.DATA_DIR);
  const { startService } = await import('./service/start-service.ts');
  const service = await startService(config, log).catch((error: unknown) => {
    // A terminal's signal also reaches initdb, whose exit is then no failure.
    if (stopping) process.exit(0);
    throw error;
  });
  process.stdout.write(
    service.address
      ? `Ibid serves ${service.address} (API description at ${service.address}/docs)\n${welcomeMessage(service.welcome)}`
      : 'Ibid works on jobs\n',
  );
  compiled.write();
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

main().catch((error: unknown) => {
  if (error instanceof ConfigError || error instanceof StartError)
    process.stderr.write(`Ibid cannot start: ${error.message}\n`);
  else process.stderr.write(`Ibid cannot start: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
