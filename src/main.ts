import { keepCompiledCode } from './operation/compiled-code.ts';
import { ConfigError, readConfig } from './operation/config.ts';
import { WORKER_ARGUMENT } from './operation/service/fork-worker.ts';

/** Runs the service, its worker process for jobs, or a command of `ibid`. */
async function main(): Promise<void> {
  const [command = 'start', ...args] = process.argv.slice(2);
  const isService = command === 'start' && args.length === 0;
  if (!isService && command !== WORKER_ARGUMENT) {
    await import('./operation/cli/ibid.ts');
    return;
  }
  const config = readConfig(process.env);
  // Modules imported from here on use the compile cache.
  keepCompiledCode(config.DATA_DIR);
  if (command === WORKER_ARGUMENT) {
    const { runWorker } = await import('./operation/service/run-worker.ts');
    return runWorker(config);
  }
  const { runService } = await import('./operation/service/run-service.ts');
  await runService(config);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) process.stderr.write(`Ibid cannot start: ${error.message}\n`);
  else process.stderr.write(`Ibid cannot start: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
