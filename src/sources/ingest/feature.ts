import type { Feature } from '../../platform/feature.ts';
import { ingestJob } from './ingest.job.ts';
import { ingestTables } from './tables.ts';

export const ingest: Feature = {
  jobs: [ingestJob],
  tables: ingestTables,
};
