import type { Feature } from '../jobs/define-job.ts';
import { listAuditEvents } from './list-audit-events.ts';

export const audit: Feature = {
  endpoints: [listAuditEvents],
};
