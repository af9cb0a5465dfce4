import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

export const autosaveTables = [
  defineTable({
    name: 'autosaves',
    of: 'member',
    rows: 'few',
    policy: 'shared',
    person: {
      exported: [
        personList(
          'autosaves.jsonl',
          'wiki_id autosave_id',
          ['', ''],
          1,
          ([wiki, id]) => sql`select s.* from access a, caller_autosaves(${wiki}::text, ${id}::text) s`,
        ),
      ],
      erased: 'cascade',
    },
  }),
];
