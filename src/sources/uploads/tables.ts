import { sql } from '../../platform/db/sql.ts';
import { defineTable, idStays, personList } from '../../platform/tables/define-table.ts';

export const uploadTables = [
  defineTable({
    name: 'uploads',
    of: 'wiki',
    rows: 'many',
    copies: ['upload_id'],
    id: 'upload_id',
    prefix: 'upload',
    policy: 'special',
    audit: ['upload'],
    content: ['summary'],
    person: idStays([
      personList(
        'uploads.jsonl',
        'wiki_id upload_id',
        ['', ''],
        10,
        ([wiki, id]) => sql`select u.* from access a, caller_uploads(${wiki}::text, ${id}::text) u`,
      ),
    ]),
  }),
  defineTable({
    name: 'upload_files',
    of: 'wiki',
    rows: 'many',
    copies: ['upload_id', 'file_id', 'filename'],
    prefix: 'file',
    policy: 'special',
  }),
  defineTable({ name: 'upload_parts', of: 'wiki', rows: 'many', copies: ['upload_id', 'name'], policy: 'special' }),
];
