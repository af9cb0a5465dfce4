import { defineTable } from '../tables/define-table.ts';

export const jobTables = [
  defineTable({
    name: 'jobs',
    of: 'wiki',
    rows: 'many',
    copies: ['job_id', 'upload_id'],
    policy: 'special',
    id: 'job_id',
    prefix: 'job',
    audit: ['job', 'export', 'import'],
    content: ['summary'],
  }),
  defineTable({
    name: 'background_jobs',
    of: 'service',
    rows: 'few',
    policy: 'special',
    person: { exported: 'Its rows are work of the service, and end with it.', erased: 'cascade' },
  }),
  defineTable({ name: 'schedules', of: 'service', rows: 'fixed', policy: 'none' }),
  defineTable({ name: 'workers', of: 'service', rows: 'fixed', policy: 'none' }),
  defineTable({ name: 'service_controls', of: 'service', rows: 'fixed', policy: 'none', rights: 'select' }),
];
