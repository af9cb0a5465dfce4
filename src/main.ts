import { keepCompiledCode } from './compiled-code.ts';
import { ConfigError, readConfig } from './config.ts';
import { bundledService } from './programs/bundled-programs.ts';

/** Runs the bundle of the service; where none can be kept, its sources. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  keepCompiledCode(config.DATA_DIR);
  const program = await bundledService('service').catch(() => './service/run-service.ts');
  const { runService }: typeof import('./service/run-service.ts') = await import(program);
  await runService(config);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) process.stderr.write(`Ibid cannot start: ${error.message}\n`);
  else process.stderr.write(`Ibid cannot start: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
