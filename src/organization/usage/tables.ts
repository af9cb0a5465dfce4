import { defineTable } from '../../platform/tables/define-table.ts';

export const usageTables = [
  // Accessed only by database functions.
  defineTable({ name: 'plan_limits', of: 'service', rows: 'fixed', policy: 'special', rights: '' }),
  defineTable({
    name: 'workspace_usage',
    of: 'workspace',
    rows: 'few',
    rights: 'select',
    deletedBy: 'purge_deleted_workspaces',
  }),
];
