import { newId } from '../core/ids.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { AuditTargets } from '../tables/define-table.ts';

/** `<kind>.<action>`, for example wiki.renamed. A table declares the kinds of its records. */
export type EventType = `${string}.${string}`;

/** The origin of a write, as stored in its audit record. */
interface WriteOrigin {
  credential_kind: string;
  request_id: string;
  address: string;
  /** The widget through which the write was made, and the origin of its page; '' for none. */
  widget: string;
  widget_origin: string;
}

/**
 * Returns the CTE that inserts the audit record of a writing statement. It compares the statement's CTEs `before`, the
 * previous record, and `after`, the new record (the result if the statement has no `after`), and keeps only fields that
 * differ, without the content of pages and files. At sign-in the guard does not know the user, so the actor comes from
 * the result. A creating write has no `before`; a deleting write has a result without columns. Throws an Error for a kind that no table declares.
 */
export function auditCte(
  event: EventType,
  stepNames: readonly string[],
  origin: WriteOrigin,
  targets: AuditTargets,
): Sql {
  const kind = event.slice(0, event.indexOf('.'));
  const target = targets[kind];
  if (target === undefined) throw new Error(`no table declares audit records of the kind "${kind}"`);
  const field = target.id;
  const became = stepNames.includes('after') ? 'after' : 'result';
  const hasBefore = stepNames.includes('before');
  const left = target.content.map((column) => `'${column}'`).join(', ');
  const record = (step: string) => (left === '' ? `to_jsonb(${step})` : `to_jsonb(${step}) - array[${left}]`);
  // "offset 0" keeps PostgreSQL from building each record once per reference.
  const changes = hasBefore
    ? raw(
        `select ${record('before')} as was, ${record(became)} as became from ${became} left join before on true offset 0`,
      )
    : raw(`select null::jsonb as was, ${record(became)} as became from ${became} offset 0`);
  return sql`
    insert into audit_events (event_id, workspace_id, type, target_kind, target_id, actor_id, credential_kind, credential_id,
      request_id, address, widget, widget_origin, before, after)
    select ${newId('evt')}, coalesce(access.workspace_id, became ->> 'workspace_id'), ${event}::text, ${kind}::text,
      coalesce(became ->> '${raw(field)}', was ->> '${raw(field)}', to_jsonb(access) ->> '${raw(field)}'), coalesce(access.user_id, became ->> 'user_id'),
      ${origin.credential_kind}::text, access.credential_id, ${origin.request_id}::text, ${origin.address}::text,
      ${origin.widget}::text, ${origin.widget_origin}::text,
      ${hasBefore ? changedFields('was', 'became') : raw("'{}'")},
      ${hasBefore ? changedFields('became', 'was') : raw('jsonb_strip_nulls(became)')}
    from access, (${changes}) changes`;
}

/** Returns the fields of `was` or `became` (jsonb) that differ in the other column, without nulls. */
export function changedFields(one: 'was' | 'became', other: 'was' | 'became'): Sql {
  return raw(`(select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(${one})
    where value <> 'null' and value is distinct from ${other} -> key)`);
}
