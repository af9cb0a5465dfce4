import type { Feature } from '../../platform/feature.ts';
import { listAuditEvents } from './list-audit-events.ts';
import { listRequests } from './list-requests.ts';
import { purgeAuditEvents } from './purge-audit-events.job.ts';
import { auditTables } from './tables.ts';

export const audit: Feature = {
  endpoints: [listAuditEvents, listRequests],
  jobs: [purgeAuditEvents],
  tables: auditTables,
};
