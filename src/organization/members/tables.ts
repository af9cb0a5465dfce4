import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

export const memberTables = [
  defineTable({
    name: 'memberships',
    of: 'workspace',
    rows: 'few',
    policy: 'special',
    id: 'membership_id',
    prefix: 'mem',
    audit: ['organization_membership'],
    person: {
      exported: [
        personList(
          'memberships.jsonl',
          'membership_id',
          [''],
          500,
          // The workspace and its name are only visible while the membership is active.
          ([id]) => sql`
            select m.membership_id, m.workspace_id, w.name as workspace_name, w.slug as workspace_slug, m.role, m.status, m.created_at
            from access a join memberships m on m.user_id = a.user_id left join workspaces w on w.workspace_id = m.workspace_id
            where m.membership_id > ${id}::text order by m.membership_id limit 500`,
        ),
      ],
      erased: 'cascade',
    },
  }),
];
