import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

export const invitationTables = [
  defineTable({
    name: 'invitations',
    of: 'workspace',
    rows: 'few',
    id: 'invitation_id',
    prefix: 'inv',
    audit: ['invitation'],
    person: {
      exported: [
        personList(
          'invitations.jsonl',
          'invitation_id',
          [''],
          500,
          ([id]) => sql`select i.* from access a, caller_invitations(${id}::text) i`,
        ),
      ],
      erased: 'erase_account',
    },
  }),
];
