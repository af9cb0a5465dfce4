import type { Services } from '../http/services.ts';

/** Takes down how to stop what was started just now, so that it stops before what it stands on. */
export type OnStop = (end: () => Promise<unknown>) => void;

export interface ServiceHooks {
  /** Called with the text and the values of each statement. */
  observe?: (text: string, values: readonly unknown[]) => void;
  /** Changes the text of each statement. */
  rewrite?: (text: string) => string;
  /** Changes what endpoints are given besides the database: tests hold a service up with it, or see when it is called. */
  services?: (services: Services) => Services;
}
