import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { domainWords } from '../../platform/access/before-sign-in.ts';
import { canGrant, findRole, notGrantable, unknownRole } from '../../platform/access/roles.ts';
import { normalizeEmail } from '../../platform/core/email-address.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Id, InputText } from '../../platform/core/records.ts';
import { newLinkSecret } from '../../platform/core/secrets.ts';
import { isOfDomains } from '../../platform/core/sign-in/mail-domains.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { requireMail } from '../../platform/http/require-mail.ts';
import { refuseWithoutSeat, type SeatCounts, seatColumns } from '../workspaces/seats.ts';
import { enforceInvitationRateLimit } from './invitation-rate-limit.ts';
import { exampleInvitation, INVITATION_DAYS, Invitation, invitationColumns } from './schema.ts';
import { sendInvitationMail } from './send-invitation-mail.job.ts';

interface Facts extends SeatCounts {
  own_role: string;
  own_granted: string[] | null;
  user_id: string;
  member_status: 'active' | 'inactive' | null;
  is_pending: boolean;
}

/** Counts and takes seats under the lock on the workspace. */
export const inviteMember = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/members/invite',
  summary: 'Invite a member',
  access: onWorkspace('members:manage'),
  event: 'invitation.created',
  limit: 'invitations',
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({ email: InputText(), role: InputText() }),
  reply: Invitation,
  errors: [
    'quota_exceeded',
    'invalid_email',
    'unknown_role',
    'role_not_grantable',
    'already_member',
    'member_inactive',
    'invitation_pending',
    'seat_limit_reached',
    'email_unavailable',
  ],
  example: { body: { email: 'grace@example.com', role: 'member' }, reply: exampleInvitation },
  run: async ({ body, services, transaction, maybeOne, later }) => {
    await maybeOne(sql`select 1`);
    await requireMail(services.mail);
    return transaction(async (tx) => {
      const email = normalizeEmail(body.email);
      const role = findRole(body.role);
      const facts = await tx.maybeOne<Facts>(sql`
        select a.user_id, a.role as own_role, a.granted as own_granted, ${seatColumns},
          (select m.status from memberships m join users u on u.user_id = m.user_id
            where m.workspace_id = w.workspace_id and u.email = ${email ?? ''} order by m.status limit 1) as member_status,
          exists (select from invitations i where i.workspace_id = w.workspace_id and i.email = ${email ?? ''}
            and i.state = 'pending' and i.expires_at > now()) as is_pending
        from access a join workspaces w on w.workspace_id = a.workspace_id
      `);
      const own = findRole(facts?.own_role ?? '');
      if (!facts || !own) throw new Error('a member of the workspace has no role in the catalogue');
      if (role && !canGrant(own, role, facts.own_granted)) throw notGrantable();
      if (!role) throw unknownRole(body.role);
      if (email === undefined) {
        throw new ApiError('invalid_email', 'Send one plain e-mail address of at most 254 ASCII characters.');
      }
      const { domains } = services.signIn;
      if (!isOfDomains(email, domains)) {
        const words = domains.map(domainWords).join(' or ');
        throw new ApiError(
          'invalid_email',
          `Only addresses of ${words} may sign in, so ${email} cannot be invited. Contact the operator of the service.`,
        );
      }
      refuseConflicts(facts);
      await enforceInvitationRateLimit(tx, services, { sent_by: facts.user_id, email });
      // An expired invitation still violates the unique key and counts as pending until its state changes.
      await tx.maybeOne({
        expired: sql`
          update invitations i set state = 'expired' from access a
          where i.workspace_id = a.workspace_id and i.state = 'pending' and (i.email = ${email} or i.expires_at <= now())`,
        result: sql`select 1`,
      });
      const invitation_id = newId('inv');
      const invitation = await tx.one<Invitation>({
        i: sql`
          insert into invitations
            (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at, mail_status)
          select ${invitation_id}, workspace_id, ${email}, ${role.slug}, ${newLinkSecret().hash}, user_id,
            now() + make_interval(days => ${INVITATION_DAYS}), 'queued'
          from access
          returning *`,
        result: sql`select ${invitationColumns} from i`,
      });
      await tx.execute(later(sendInvitationMail, { invitation_id, sent_by: facts.user_id }));
      return invitation;
    });
  },
});

function refuseConflicts(facts: Facts): void {
  if (facts.member_status === 'active')
    throw new ApiError('already_member', 'This address already belongs to a member.');
  if (facts.member_status === 'inactive') {
    throw new ApiError('member_inactive', 'This address belongs to an inactive member. Reactivate them instead.');
  }
  if (facts.is_pending) throw new ApiError('invitation_pending', 'This address already has a pending invitation.');
  refuseWithoutSeat(facts);
}
