import { type ChildProcess, fork } from 'node:child_process';
import { V8 } from '../../platform/sandbox/v8-options.ts';

/** With it `main.ts` runs the process for jobs. */
export const WORKER_ARGUMENT = '--worker-process';

/** Starts the program of this process once more, as the process for jobs. */
export function forkWorker(): ChildProcess {
  return fork(process.argv[1] ?? '', [WORKER_ARGUMENT], { execArgv: [...process.execArgv, ...V8.jobs] });
}
