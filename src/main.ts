import { serviceModule } from './programs/bundled-programs.ts';

/** Runs the bundle of the service, which is made first; where none can be kept, the sources. bin/start.js does without this. */
serviceModule('main', './run.ts')
  .then((program) => import(program))
  .catch((error: unknown) => {
    process.stderr.write(`Ibid cannot start: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  });
