import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id, Record, Timestamp } from '../../platform/core/records.ts';
import { newLinkSecret } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { readPending } from './pending-invitation.ts';
import {
  exampleInvitation,
  type Invitation,
  invitationAuditColumns,
  invitationColumns,
  invitationCte,
} from './schema.ts';

/**
 * Creates a link with a different secret than the emailed link. The emailed link proves access to the mailbox; the
 * copied link may be held by anyone, including the inviter, so its user has to sign in with the invited address.
 */
export const createInvitationLink = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/invitations/:invitation_id/link',
  summary: 'Create an invitation link',
  description:
    'A link to pass on yourself, shown only once. Links created earlier stop working. The invited person signs in with the invited address and accepts. The link in the invitation e-mail stays valid.',
  access: onWorkspace('members:manage'),
  event: 'invitation.link_created',
  params: Type.Object({ workspace_id: Id, invitation_id: Id }),
  status: 201,
  reply: Record({ link: Type.String(), expires_at: Timestamp }, { title: 'InvitationLink' }),
  errors: ['conflict', 'role_not_grantable'],
  example: {
    reply: {
      link: 'https://wiki.example.com/invitations/accept?token=kZ0…',
      expires_at: exampleInvitation.expires_at,
    },
  },
  run: ({ params: { invitation_id }, services, transaction }) =>
    transaction(async (tx) => {
      await readPending(tx, invitation_id);
      const { secret, hash } = newLinkSecret();
      const { expires_at } = await tx.one<Invitation>({
        before: invitationCte(invitation_id),
        i: sql`
          update invitations i set copied_hash = ${hash}, copies = i.copies + 1 from access a
          where i.workspace_id = a.workspace_id and i.invitation_id = ${invitation_id}
          returning i.*`,
        after: sql`select ${invitationAuditColumns} from i`,
        result: sql`select ${invitationColumns} from i`,
      });
      return { link: `${services.publicUrl}/invitations/accept?token=${secret}`, expires_at };
    }),
});
