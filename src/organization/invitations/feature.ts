import type { Feature } from '../../platform/feature.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { acceptOwnInvitation } from './accept-own-invitation.ts';
import { createInvitationLink } from './create-invitation-link.ts';
import { inviteMember } from './invite-member.ts';
import { listInvitations } from './list-invitations.ts';
import { listOwnInvitations } from './list-own-invitations.ts';
import { lookupInvitation } from './lookup-invitation.ts';
import { resendInvitation } from './resend-invitation.ts';
import { revokeInvitation } from './revoke-invitation.ts';
import { sendInvitationMail } from './send-invitation-mail.job.ts';
import { invitationTables } from './tables.ts';

export const invitations: Feature = {
  endpoints: [
    inviteMember,
    listInvitations,
    createInvitationLink,
    resendInvitation,
    revokeInvitation,
    lookupInvitation,
    acceptInvitation,
    listOwnInvitations,
    acceptOwnInvitation,
  ],
  jobs: [sendInvitationMail],
  tables: invitationTables,
};
