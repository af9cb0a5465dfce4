import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** Changed fields of a record, under their API names; never secrets. */
const Fields = (description: string) => Type.Object({}, { additionalProperties: true, description });

export const AuditEvent = Record(
  {
    event_id: Id,
    type: Type.String({ description: 'Type of the event, such as invitation.created.' }),
    actor_id: Type.String({ description: 'User who caused the event; "" for the service itself.' }),
    credential_kind: Type.String({
      description:
        'Kind of credential: key, session, widget, identity (an issuer\'s token), command, operator (on the operators\' page), or "" for the service.',
    }),
    credential_id: Type.String({
      description:
        'ID of the key or session, or the issuer; for a widget, the credential that its token was created with; "" for the service.',
    }),
    target_kind: Type.String({ description: 'Kind of record affected, such as invitation.' }),
    target_id: Type.String({ description: 'ID of that record.' }),
    target_name: Type.String({
      default: '',
      description: 'Current title of a page; "" for other kinds and for deleted pages.',
    }),
    changes: Record(
      {
        before: Fields('The changed fields before the event; {} if a record was created.'),
        after: Fields('The changed fields after the event; {} if a record was deleted.'),
      },
      { title: 'AuditChanges' },
    ),
    widget: Type.String({
      default: '',
      description: 'Widget through which the event was caused: profile, enterprise or developers; "" for none.',
    }),
    widget_origin: Type.String({ default: '', description: 'Site that embeds that widget; "" for none.' }),
    request_id: Text,
    address: Type.String({ default: '', description: 'Network address of the request.' }),
    created_at: Timestamp,
  },
  { title: 'AuditEvent' },
);
export type AuditEvent = Static<typeof AuditEvent>;

/** An audit event as stored. */
export type AuditEventRow = Omit<AuditEvent, 'changes'> & AuditEvent['changes'];

/** Columns of AuditEventRow, from an audit event `e`. */
export const auditEventColumns: Sql = sql`
  e.event_id, e.type, coalesce(e.actor_id, '') as actor_id, e.credential_kind, coalesce(e.credential_id, '') as credential_id,
  e.target_kind, e.target_id,
  case when e.target_kind = 'page' then coalesce(page_title(e.target_id), '') else '' end as target_name, e.before, e.after, e.widget, e.widget_origin, e.request_id, e.address, e.created_at`;

export const exampleAuditEvent: AuditEvent = {
  event_id: 'evt_01jd8w3v6xf3e8h2k9m4n5p6x1',
  type: 'wiki.renamed',
  actor_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  credential_kind: 'key',
  credential_id: 'key_01jd8w3v6xf3e8h2k9m4n5p6r3',
  target_kind: 'wiki',
  target_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9',
  target_name: '',
  widget: '',
  widget_origin: '',
  changes: { before: { title: 'Acme Wiki' }, after: { title: 'Handbook' } },
  request_id: 'req_01jd8w3v6xf3e8h2k9m4n5p6w1',
  address: '127.0.0.1',
  created_at: '2026-11-21T05:29:32.104Z',
};
