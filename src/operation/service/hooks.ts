import type { ChildProcess } from 'node:child_process';
import type { Services } from '../../platform/http/services.ts';
import type { JobServices } from '../../platform/jobs/define-job.ts';

/** Registers how to stop what was just started, so that it stops before its dependencies. */
export type OnStop = (end: () => Promise<unknown>) => void;

/** What starts and observes a service beside its configuration. */
export interface ServiceHooks {
  /** Starts the process for public jobs with an IPC channel. Without it ROLE=all works on them itself, as tests do. */
  forkWorker?: () => ChildProcess;
  /** Called with the text and the values of each statement. */
  observe?: (text: string, values: readonly unknown[]) => void;
  /** Changes the text of each statement. */
  rewrite?: (text: string) => string;
  /** Wraps the services of endpoints: tests delay calls with it, or record them. */
  services?: (services: Services) => Services;
  /** The same for the services of jobs. */
  jobServices?: (services: JobServices) => JobServices;
}
