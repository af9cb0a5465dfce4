import { defineTable, idStays } from '../../platform/tables/define-table.ts';

export const workspaceTables = [
  defineTable({
    name: 'workspaces',
    of: 'workspace',
    rows: 'few',
    policy: 'special',
    id: 'workspace_id',
    prefix: 'org',
    audit: ['workspace'],
    person: idStays('memberships.jsonl has the workspaces of a person.'),
    deletedBy: 'purge_deleted_workspaces',
  }),
  defineTable({ name: 'workspace_slugs', of: 'workspace', rows: 'few', policy: 'special', rights: 'select' }),
  defineTable({ name: 'workspace_controls', of: 'workspace', rows: 'few', rights: 'select' }),
];
