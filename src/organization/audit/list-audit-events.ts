import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Cursor, OFFSET_PAGING } from '../../platform/core/paging.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { TIMESTAMP_PATTERN as pattern, readTimestamp } from '../../platform/core/timestamps.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { AuditEvent, type AuditEventRow, auditEventColumns, exampleAuditEvent } from './schema.ts';

export const listAuditEvents = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/audit-events',
  summary: 'List audit events',
  description:
    'Every write in the workspace, oldest first by default: who made it, with which credential, what changed, and from where.',
  access: onWorkspace('enterprise:manage'),
  params: Type.Object({ workspace_id: Id }),
  query: Type.Object({
    type: Type.Optional(InputText({ description: 'Only events of this type, for example wiki.renamed.' })),
    actor_id: Type.Optional(InputText({ description: 'Only events of this user.' })),
    after: Type.Optional(Type.String({ pattern, description: 'RFC 3339: only events at or after this time.' })),
    before: Type.Optional(Type.String({ pattern, description: 'RFC 3339: only events before this time.' })),
    order: Type.Optional(Type.Enum(['oldest', 'newest'], { description: 'Sort order; oldest first by default.' })),
    ...OFFSET_PAGING,
    // The cursor has another name here because `after` is a time.
    cursor: Cursor,
  }),
  paging: {
    keys: { 'e.recorded': 'timestamp', 'e.event_id': 'text' },
    parameter: 'cursor',
    isDescending: ({ order }) => order === 'newest',
  },
  reply: Type.Array(AuditEvent),
  errors: ['invalid_query'],
  example: { reply: [exampleAuditEvent] },
  run: async ({ params, query, paging, many, refuse }) => {
    const { type, actor_id } = query;
    const after = parseTime(query.after);
    const before = parseTime(query.before);
    if (after instanceof ApiError) return refuse(after);
    if (before instanceof ApiError) return refuse(before);
    const events = await many<AuditEventRow>(sql`
      select ${auditEventColumns}, e.recorded::text as recorded from (select *, created_at as recorded from audit_events) e
      where e.workspace_id = ${params.workspace_id}
        ${only(type, (value) => sql`and e.type = ${value}`)}
        ${only(actor_id, (value) => sql`and e.actor_id = ${value}`)}
        ${only(after, (value) => sql`and e.recorded >= ${value}`)}
        ${only(before, (value) => sql`and e.recorded < ${value}`)}
      ${paging.clause}
    `);
    return events.map(({ before: was, after: became, ...event }) => ({
      ...event,
      changes: { before: asAnswered(was), after: asAnswered(became) },
    }));
  },
});

function only(value: string | undefined, condition: (value: string) => Sql): Sql {
  return value === undefined ? raw('') : condition(value);
}

function parseTime(text: string | undefined): string | undefined | ApiError {
  const time = text === undefined ? undefined : readTimestamp(text);
  if (text === undefined || time !== undefined) return time;
  return new ApiError('invalid_query', 'Invalid time: after and before must be calendar times in the years 1 to 9999.');
}

/** Formats the times of a record like the API, with milliseconds. */
function asAnswered(fields: object): object {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00$/;
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' && time.test(value) ? new Date(value).toISOString() : value,
  ]);
  return Object.fromEntries(entries);
}
