import { defineTable, idStays } from '../../platform/tables/define-table.ts';

const STAGED = idStays('It is what an archive says, for the time of an import.');

export const transferTables = [
  defineTable({
    name: 'exports',
    of: 'wiki',
    rows: 'many',
    copies: ['export_id'],
    policy: 'shared',
    person: idStays('workspace_events.jsonl has who began it.'),
  }),
  defineTable({
    name: 'imports',
    of: 'wiki',
    rows: 'few',
    policy: 'shared',
    person: idStays('workspace_events.jsonl has who began it.'),
  }),
  defineTable({ name: 'staged_imports', of: 'wiki', rows: 'few' }),
  defineTable({ name: 'import_pages', of: 'wiki', rows: 'many', person: STAGED }),
  defineTable({ name: 'import_revisions', of: 'wiki', rows: 'many', person: STAGED }),
  defineTable({ name: 'import_attachments', of: 'wiki', rows: 'many', person: STAGED }),
  defineTable({
    name: 'imported_people',
    of: 'wiki',
    rows: 'few',
    person: { exported: 'It is what an archive says of people, unverified.', erased: 'erase_account' },
  }),
];
