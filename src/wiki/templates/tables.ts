import { defineTable, idStays } from '../../platform/tables/define-table.ts';

export const templateTables = [
  defineTable({
    name: 'templates',
    policy: 'special',
    of: 'wiki',
    rows: 'few',
    rights: 'delete, insert, select',
    id: 'page_id',
    audit: ['template'],
    content: ['title', 'path', 'description'],
    person: idStays('It is a page of the wiki.'),
  }),
];
