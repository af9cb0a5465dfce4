import { sql } from '../../platform/db/sql.ts';
import { defineTable, idStays, personList } from '../../platform/tables/define-table.ts';

export const attachmentTables = [
  defineTable({
    name: 'attachments',
    policy: 'special',
    of: 'wiki',
    rows: 'many',
    copies: ['attachment_id', 'page_id'],
    id: 'attachment_id',
    prefix: 'attachment',
    audit: ['attachment'],
    content: ['filename'],
    person: idStays([
      personList(
        'attachments.jsonl',
        'wiki_id attachment_id',
        ['', ''],
        500,
        ([wiki, id]) => sql`select t.* from access a, caller_attachments(${wiki}::text, ${id}::text) t`,
      ),
    ]),
  }),
];
