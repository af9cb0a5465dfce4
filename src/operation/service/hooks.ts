import type { ChildProcess } from 'node:child_process';
import type { Services } from '../../platform/http/services.ts';
import type { JobServices } from '../../platform/jobs/define-job.ts';

/** Registers a function that stops a part of the service, so that the part stops before its dependencies. */
export type OnStop = (end: () => Promise<unknown>) => void;

/** Hooks that tests use to observe a service or replace parts of it. */
export interface ServiceHooks {
  /**
   * Starts the process for public jobs, with an IPC channel. Without it ROLE=all runs them in this process, as in
   * tests.
   */
  forkWorker?: () => ChildProcess;
  /** Called with the text and values of each statement. */
  observe?: (text: string, values: readonly unknown[]) => void;
  rewrite?: (text: string) => string;
  /** Wraps the services of endpoints; tests delay or record calls with it. */
  services?: (services: Services) => Services;
  /** Wraps the services of jobs. */
  jobServices?: (services: JobServices) => JobServices;
}
