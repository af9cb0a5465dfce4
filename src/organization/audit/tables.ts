import { sql } from '../../platform/db/sql.ts';
import { defineTable, personList } from '../../platform/tables/define-table.ts';

const BEFORE_ALL = '-infinity';

export const auditTables = [
  defineTable({
    name: 'audit_events',
    of: 'workspace',
    rows: 'many',
    copies: ['event_id'],
    policy: 'special',
    rights: 'insert, select',
    prefix: 'evt',
    person: {
      exported: [
        personList(
          'account_events.jsonl',
          'created_at event_id',
          [BEFORE_ALL, ''],
          500,
          ([time, id]) => sql`
            select e.event_id, e.type, e.target_kind, e.target_id, e.credential_kind, e.credential_id, e.request_id, e.address, e.created_at,
              e.before, e.after
            from access a, caller_account_events(${time}::timestamptz, ${id}::text) e`,
        ),
        personList(
          'workspace_events.jsonl',
          'created_at event_id',
          [BEFORE_ALL, ''],
          500,
          // Omits the changes: they may name other people or contain texts that the caller may no longer read.
          ([time, id], workspace_id) => sql`
            select e.workspace_id, e.event_id, e.type, e.target_kind, e.target_id, e.credential_kind, e.credential_id, e.request_id, e.address,
              e.created_at
            from access a join audit_events e on e.workspace_id = ${workspace_id} and e.actor_id = a.user_id
            where (e.created_at, e.event_id) > (${time}::timestamptz, ${id}::text) order by e.created_at, e.event_id limit 500`,
          { inWorkspaces: true },
        ),
      ],
      erased: 'erase_account',
    },
    // Keeps type, time and ids.
    deletedBy: 'purge_deleted_workspaces',
  }),
  defineTable({
    name: 'request_log',
    of: 'workspace',
    rows: 'few',
    rights: 'select',
    prefix: 'req',
    person: {
      exported: [
        personList(
          'requests.jsonl',
          'call_id',
          [''],
          500,
          ([id], workspace_id) => sql`
            select r.workspace_id, r.call_id, r.request_id, r.method, r.path, r.status, r.error, r.duration_ms, r.credential_kind,
              r.credential_id, r.created_at
            from access a join request_log r on r.workspace_id = ${workspace_id} and r.call_id > ${id}::text
            where r.credential_id in (
              select k.key_id from api_keys k where k.user_id = a.user_id
              union all select s.session_id from sessions s where s.user_id = a.user_id)
            order by r.call_id limit 500`,
          { inWorkspaces: true },
        ),
      ],
      erased: 'Its credentials are gone, so their ids name no one.',
    },
  }),
];
