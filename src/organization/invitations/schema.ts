import { type Static, Type } from 'typebox';
import { Id, Record, Timestamp } from '../../platform/core/records.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';

/** Days until an invitation expires. */
export const INVITATION_DAYS = 7;

export const INVITATION_STATES = ['pending', 'accepted', 'revoked', 'expired'] as const;

const MAIL_STATUSES = ['queued', 'sent', 'bounced', 'failed'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

export const Invitation = Record(
  {
    invitation_id: Id,
    email: Type.String(),
    role: Type.String(),
    created_at: Timestamp,
    expires_at: Timestamp,
    state: Type.String({ description: 'pending, accepted, revoked or expired.' }),
  },
  { title: 'Invitation' },
);
export type Invitation = Static<typeof Invitation>;

/** An invitation in a list, with more fields than the record of the specification. */
export const ListedInvitation = Record(
  {
    ...Invitation.properties,
    mail_status: Type.Enum([...MAIL_STATUSES], {
      description:
        'Delivery of the invitation e-mail: "queued" until the mail server accepts it ("sent"); "bounced" if the server rejects the address; "failed" if the server is unreachable for about an hour. In that case, resend the invitation.',
    }),
  },
  { title: 'ListedInvitation' },
);

/** An invitation as shown by its link, before sign-in. */
export const InvitationOffer = Record(
  {
    workspace_name: Type.String(),
    inviter_name: Type.String(),
    email: Type.String(),
    role: Type.String(),
    state: Type.String(),
    expires_at: Timestamp,
    signs_in: Type.Boolean({
      description:
        'Whether the link came by e-mail and the address has no account yet. If so, `POST /v1/auth/invitation` signs in with it.',
    }),
  },
  { title: 'InvitationOffer' },
);
export type InvitationOffer = Static<typeof InvitationOffer>;

/** An invitation as shown to the signed-in invitee. */
export const OwnInvitation = Record(
  {
    invitation_id: Id,
    workspace_name: Type.String(),
    inviter_name: Type.String(),
    email: Type.String(),
    role: Type.String(),
    expires_at: Timestamp,
  },
  { title: 'OwnInvitation' },
);
export type OwnInvitation = Static<typeof OwnInvitation>;

/** The current state of an invitation `i`. Expiry is computed on read instead of stored by a timer. */
export const presentState: Sql = raw(
  `(case when i.state = 'pending' and i.expires_at <= now() then 'expired' else i.state end)`,
);

/** Condition that an invitation `i` has this secret, either of its emailed link or of its copied link. */
export function hasSecret(token: string): Sql {
  const hash = sha256(token);
  return sql`(i.secret_hash = ${hash} or i.copied_hash = ${hash})`;
}

/** Columns of Invitation, from an invitation `i`. */
export const invitationColumns: Sql = sql`
  i.invitation_id, i.email, i.role, i.created_at, i.expires_at, ${presentState} as state`;

/** Columns in audit records of an invitation `i`. */
export const invitationAuditColumns: Sql = sql`${invitationColumns}, i.mail_status, i.copies`;

/** The CTE that reads an invitation of the guard's workspace before the statement changes it. */
export function invitationCte(invitation_id: string): Sql {
  return sql`
    select ${invitationAuditColumns} from access a
    join invitations i on i.workspace_id = a.workspace_id and i.invitation_id = ${invitation_id}`;
}

export const exampleInvitation: Invitation = {
  invitation_id: 'inv_01jd8w3v6xf3e8h2k9m4n5p6r2',
  email: 'grace@example.com',
  role: 'member',
  created_at: '2026-11-21T05:29:32.104Z',
  expires_at: '2026-11-28T05:29:32.104Z',
  state: 'pending',
};
