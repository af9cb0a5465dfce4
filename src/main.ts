import { keepCompiledCode } from './compiled-code.ts';
import { ConfigError, readConfig } from './config.ts';
import { WORKER_ARGUMENT } from './service/fork-worker.ts';

/** The service, the process that it starts for jobs, or a command of `ibid`. */
async function main(): Promise<void> {
  const [command = 'start', ...args] = process.argv.slice(2);
  const isService = command === 'start' && args.length === 0;
  if (!isService && command !== WORKER_ARGUMENT) {
    await import('./cli/ibid.ts');
    return;
  }
  const config = readConfig(process.env);
  // What comes now is compiled once.
  keepCompiledCode(config.DATA_DIR);
  if (command === WORKER_ARGUMENT) {
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
