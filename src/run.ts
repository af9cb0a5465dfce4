import { keepCompiledCode } from './compiled-code.ts';
import { ConfigError, readConfig } from './config.ts';
import { WORKER_ARGUMENT } from './service/fork-worker.ts';

/** The service, or the process that it starts for jobs. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  // What comes now is compiled once.
  keepCompiledCode(config.DATA_DIR);
  if (process.argv.includes(WORKER_ARGUMENT)) {
    const { runWorker } = await import('./service/run-worker.ts');
    return runWorker(config);
  }
  const { runService } = await import('./service/run-service.ts');
  await runService(config);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) process.stderr.write(`Ibid cannot start: ${error.message}\n`);
  else process.stderr.write(`Ibid cannot start: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
