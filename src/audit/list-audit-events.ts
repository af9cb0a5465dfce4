import { Type } from 'typebox';
import { sql } from '../db/sql.ts';
import { onWorkspace } from '../http/access.ts';
import { endpoint } from '../http/endpoint.ts';
import { Paging } from '../http/paging.ts';
import { Id, withoutNulls } from '../http/records.ts';
import { AuditEvent, exampleAuditEvent } from './schema.ts';

export const listAuditEvents = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/audit-events',
  summary: 'List audit events',
  description: 'Every write in the workspace, oldest first: who, with which credential, what, and from where.',
  access: onWorkspace('enterprise:manage'),
  params: Type.Object({ workspace_id: Id }),
  query: Paging,
  reply: Type.Array(AuditEvent),
  example: { reply: [exampleAuditEvent] },
  run: async ({ params, query, many }) => {
    const events = await many<AuditEvent>(sql`
      select event_id, type, coalesce(actor_id, '') as actor_id, coalesce(credential_id, '') as credential_id, request_id,
        address, details, created_at
      from audit_events where workspace_id = ${params.workspace_id}
      order by event_id limit ${query.limit} offset ${query.offset}
    `);
    return events.map((event) => ({ ...event, details: asAnswered(event.details) }));
  },
});

/** A record as the API writes it: times with milliseconds, and what has no value left out. */
function asAnswered(details: object): object {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00$/;
  const entries = Object.entries(withoutNulls(details)).map(([name, value]) => [
    name,
    typeof value === 'string' && time.test(value) ? new Date(value).toISOString() : value,
  ]);
  return Object.fromEntries(entries);
}
