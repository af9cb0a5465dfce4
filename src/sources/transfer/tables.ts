import { defineTable, idStays } from '../../platform/tables/define-table.ts';

const STAGED = idStays('It is part of an archive, kept only during an import.');

export const transferTables = [
  defineTable({
    name: 'exports',
    policy: 'special',
    of: 'wiki',
    rows: 'many',
    copies: ['export_id'],

    person: idStays('workspace_events.jsonl names the person who started it.'),
  }),
  defineTable({
    name: 'imports',
    of: 'wiki',
    rows: 'few',
    policy: 'special',
    person: idStays('workspace_events.jsonl names the person who started it.'),
  }),
  defineTable({ name: 'staged_imports', of: 'wiki', rows: 'few' }),
  defineTable({ name: 'import_pages', of: 'wiki', rows: 'many', person: STAGED }),
  defineTable({ name: 'import_revisions', of: 'wiki', rows: 'many', person: STAGED }),
  defineTable({ name: 'import_attachments', of: 'wiki', rows: 'many', person: STAGED }),
  defineTable({
    name: 'imported_people',
    of: 'wiki',
    rows: 'few',
    person: { exported: 'It is an unverified claim of an archive about people.', erased: 'erase_account' },
  }),
];
