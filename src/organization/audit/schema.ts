import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** Changed fields of a record, under their API names; never secrets. */
const Fields = (description: string) => Type.Object({}, { additionalProperties: true, description });

export const AuditEvent = Record(
  {
    event_id: Id,
    type: Type.String({ description: 'What happened, for example invitation.created.' }),
    actor_id: Type.String({ description: 'The user who did it; "" for the service itself.' }),
    credential_kind: Type.String({
      description:
        'What it was done with: key, session, widget, identity (a token of an issuer), command, operator (on the page of operators), or "" for the service.',
    }),
    credential_id: Type.String({
      description:
        'Which one: the id of the key or session (for a widget: that its token was made with), or the issuer; "" for the service.',
    }),
    target_kind: Type.String({ description: 'What it was done to, for example invitation.' }),
    target_id: Type.String({ description: 'Which one.' }),
    target_name: Type.String({
      default: '',
      description: 'The present title of a page; "" of others, and where it is gone.',
    }),
    changes: Record(
      {
        before: Fields('The changed fields as they were; {} where something was made.'),
        after: Fields('The changed fields as they became; {} where something was deleted.'),
      },
      { title: 'AuditChanges' },
    ),
    widget: Type.String({
      default: '',
      description: 'The widget that it was done through: profile, enterprise or developers; "" for none.',
    }),
    widget_origin: Type.String({ default: '', description: 'The site whose page showed that widget; "" for none.' }),
    request_id: Text,
    address: Type.String({ default: '', description: 'Where the request came from.' }),
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
