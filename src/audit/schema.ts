import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../http/records.ts';

export const AuditEvent = Record({
  event_id: Id,
  type: Type.String({ description: 'What happened, for example invitation.created.' }),
  actor_id: Type.String({ description: 'The user who did it; "" for the service itself.' }),
  credential_id: Type.String({
    description: 'The key, the issuer or the command that it was done with; "" for the service.',
  }),
  request_id: Text,
  address: Type.String({ default: '', description: 'Where the request came from.' }),
  details: Type.Object(
    {},
    { additionalProperties: true, description: 'The record as the write left it, without secrets.' },
  ),
  created_at: Timestamp,
});
export type AuditEvent = Static<typeof AuditEvent>;

export const exampleAuditEvent: AuditEvent = {
  event_id: 'evt_01jd8w3v6xf3e8h2k9m4n5p6x1',
  type: 'wiki.renamed',
  actor_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  credential_id: 'key_01jd8w3v6xf3e8h2k9m4n5p6r3',
  request_id: 'req_01jd8w3v6xf3e8h2k9m4n5p6w1',
  address: '127.0.0.1',
  details: { wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9', title: 'Handbook' },
  created_at: '2026-11-21T05:29:32.104Z',
};
