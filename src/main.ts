import { pino } from 'pino';
import { ConfigError, readConfig } from './config.ts';
import { StartError } from './db/postgres.ts';
import { startService } from './service.ts';

/** How long an orderly stop may take before it is no longer waited for. */
const STOP_MS = 15_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = pino({ level: config.LOG_LEVEL, base: undefined, timestamp: pino.stdTimeFunctions.isoTime });
  const service = await startService(config, log);
  if (service.address)
    process.stdout.write(`Ibid serves ${service.address} (API description at ${service.address}/docs)\n`);

  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      log.info({ signal }, 'stopping');
      setTimeout(() => process.exit(1), STOP_MS).unref();
      service.stop().then(
        () => process.exit(0),
        (err) => {
          log.error({ err }, 'the stop was not orderly');
          process.exit(1);
        },
      );
    });
  }
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError || error instanceof StartError)
    process.stderr.write(`Ibid cannot start: ${error.message}\n`);
  else process.stderr.write(`Ibid cannot start: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
