import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

export const starTables = [
  defineTable({
    name: 'starred_pages',
    policy: 'special',
    of: 'member',
    rows: 'few',
    id: 'page_id',
    audit: ['star'],
    person: {
      exported: [
        personList(
          'starred_pages.jsonl',
          'wiki_id page_id',
          ['', ''],
          500,
          ([wiki, page]) => sql`select s.* from access a, caller_stars(${wiki}::text, ${page}::text) s`,
        ),
      ],
      erased: 'cascade',
    },
  }),
];
