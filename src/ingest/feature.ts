import type { Feature } from '../jobs/define-job.ts';
import { ingestJob } from './ingest.job.ts';

export const ingest: Feature = {
  jobs: [ingestJob],
};
