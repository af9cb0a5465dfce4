import type { Feature } from '../jobs/define-job.ts';
import { listAuditEvents } from './list-audit-events.ts';
import { listRequests } from './list-requests.ts';
import { purgeAuditEvents } from './purge-audit-events.job.ts';

export const audit: Feature = {
  endpoints: [listAuditEvents, listRequests],
  jobs: [purgeAuditEvents],
};
