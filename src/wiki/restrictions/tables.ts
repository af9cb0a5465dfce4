import { defineTable, idStays } from '../../platform/tables/define-table.ts';

export const restrictionTables = [
  defineTable({
    name: 'page_acls',
    of: 'wiki',
    rows: 'few',
    policy: 'special',
    rights: 'delete, insert, select',
    person: idStays('It names a page, whose texts are in revisions.jsonl.'),
  }),
  defineTable({
    name: 'page_grants',
    of: 'wiki',
    rows: 'few',
    policy: 'special',
    person: {
      exported: 'It says what others let the person see, and is part of the wiki.',
      erased: 'cascade',
    },
  }),
  defineTable({ name: 'subject_bits', of: 'wiki', rows: 'few', policy: 'special', rights: '' }),
];
