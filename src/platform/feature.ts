import type { Endpoint } from './http/endpoint.ts';
import type { AnyJob } from './jobs/define-job.ts';
import type { Table } from './tables/define-table.ts';

/** What the folder of a feature adds to the service, in its `feature.ts`. */
export interface Feature {
  /** In the order of the API's description. */
  endpoints?: readonly Endpoint[];
  jobs?: readonly AnyJob[];
  tables?: readonly Table[];
}
