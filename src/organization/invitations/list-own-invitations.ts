import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleInvitation, OwnInvitation } from './schema.ts';

const { invitation_id, email, role, expires_at } = exampleInvitation;

/** Maximum number of listed invitations. Further invitations appear once these are accepted or expired. */
const SHOWN = 100;

export const listOwnInvitations = endpoint({
  method: 'GET',
  path: '/v1/me/invitations',
  summary: "List the caller's invitations",
  description: `The pending invitations to the caller's verified address, newest first; at most ${SHOWN}.`,
  access: signedIn({ unrestricted: true }),
  reply: Type.Array(OwnInvitation),
  example: {
    reply: [{ invitation_id, workspace_name: 'Acme', inviter_name: 'Ada Lovelace', email, role, expires_at }],
  },
  run: ({ many }) =>
    many(sql`
      select i.invitation_id, i.workspace_name, i.inviter_name, i.email, i.role, i.expires_at from own_invitations() i
      order by i.invitation_id desc limit ${SHOWN}::integer`),
});
