import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

export const keyTables = [
  defineTable({
    name: 'api_keys',
    of: 'workspace',
    rows: 'few',
    policy: 'special',
    id: 'key_id',
    prefix: 'key',
    audit: ['api_key'],
    person: {
      exported: [
        personList(
          'api_keys.jsonl',
          'key_id',
          [''],
          500,
          ([id]) => sql`
            select k.key_id, k.workspace_id, k.name, k.obfuscated_value, k.permissions, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
            from access a join api_keys k on k.user_id = a.user_id where k.key_id > ${id}::text order by k.key_id limit 500`,
        ),
      ],
      erased: 'cascade',
    },
  }),
];
