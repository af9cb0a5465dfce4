import { defineTable, idStays } from '../../platform/tables/define-table.ts';

export const wikiTables = [
  defineTable({
    name: 'wikis',
    of: 'workspace',
    rows: 'few',
    policy: 'special',
    id: 'wiki_id',
    prefix: 'wiki',
    audit: ['wiki'],
    person: idStays('It belongs to the workspace.'),
  }),
];
