import type { Endpoint } from './http/endpoint.ts';
import type { AnyJob } from './jobs/define-job.ts';
import type { Table } from './tables/define-table.ts';

/** The contributions of a feature to the service, declared in its `feature.ts`. */
export interface Feature {
  /** In the order of the API reference. */
  endpoints?: readonly Endpoint[];
  jobs?: readonly AnyJob[];
  tables?: readonly Table[];
}
