import { rolesWith } from '../../platform/access/roles.ts';
import { unpackTexts } from '../../platform/core/packed-texts.ts';
import { sql } from '../../platform/db/sql.ts';
import { defineTable, idStays, personList } from '../../platform/tables/define-table.ts';

async function markdownFrom(packed: string) {
  return { markdown: (await unpackTexts(Buffer.from(packed, 'base64'))).markdown };
}

export const revisionTables = [
  defineTable({
    name: 'revisions',
    policy: 'special',
    of: 'wiki',
    rows: 'many',
    copies: ['page_id'],
    person: idStays([
      personList(
        'revisions.jsonl',
        'wiki_id page_id revision',
        ['', '', 0],
        1,
        ([wiki, page, revision]) => sql`
          select r.wiki_id, r.page_id, r.revision, r.path, r.title, r.origin, r.created_at, r.markdown, encode(r.packed, 'base64') as packed
          from access a, caller_revisions(${wiki}::text, ${page}::text, ${revision}::int, ${rolesWith('pages:write')}::text[]) r`,
        {
          shown: async ({ packed, ...row }) =>
            typeof packed === 'string' ? { ...row, ...(await markdownFrom(packed)) } : row,
        },
      ),
    ]),
  }),
];
