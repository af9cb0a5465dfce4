import { type ChildProcess, fork } from 'node:child_process';
import { V8 } from '../../platform/sandbox/v8-options.ts';

/** With this argument, `main.ts` runs the process for jobs. */
export const WORKER_ARGUMENT = '--worker-process';

/** Starts another instance of this program as the process for jobs. */
export function forkWorker(): ChildProcess {
  return fork(process.argv[1] ?? '', [WORKER_ARGUMENT], { execArgv: [...process.execArgv, ...V8.jobs] });
}
