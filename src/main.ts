import { keepCompiledCode } from './compiled-code.ts';
import { ConfigError, readConfig } from './config.ts';
import { serviceModule } from './programs/bundled-programs.ts';
import { WORKER_ARGUMENT } from './service/fork-worker.ts';

/** Runs the bundle of the service, or of the process that it starts for jobs; where none can be kept, the sources. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  keepCompiledCode(config.DATA_DIR);
  if (process.argv.includes(WORKER_ARGUMENT)) {
    const program = await serviceModule('worker', './service/run-worker.ts');
    const { runWorker }: typeof import('./service/run-worker.ts') = await import(program);
    return runWorker(config);
  }
  const program = await serviceModule('service', './service/run-service.ts');
  const { runService }: typeof import('./service/run-service.ts') = await import(program);
  await runService(config);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) process.stderr.write(`Ibid cannot start: ${error.message}\n`);
  else process.stderr.write(`Ibid cannot start: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
