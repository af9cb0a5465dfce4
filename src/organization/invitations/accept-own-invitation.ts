import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { effectivePermissions } from '../../platform/access/roles.ts';
import { notFound } from '../../platform/core/errors.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWorkspace, Workspace } from '../workspaces/schema.ts';
import { JOIN_ERRORS, joinWorkspace } from './join-workspace.ts';

/** Authorized by the caller's address, verified by signing in, rather than by the secret of a link. */
export const acceptOwnInvitation = endpoint({
  method: 'POST',
  path: '/v1/me/invitations/:invitation_id/accept',
  summary: 'Accept an invitation to the caller',
  description: "Accepts a pending invitation to the caller's verified address. Any other invitation is 404.",
  access: signedIn({ unrestricted: true }),
  event: 'organization_membership.created',
  params: Type.Object({ invitation_id: Id }),
  reply: Workspace,
  errors: JOIN_ERRORS,
  example: { reply: { ...exampleWorkspace, role: 'member', permissions: effectivePermissions('member', null) } },
  run: ({ params: { invitation_id }, transaction }) =>
    transaction(async (tx) => {
      const opened = await tx.maybeOne<{ is_open: boolean }>(sql`
        select open_own_invitation(${invitation_id}) as is_open from access`);
      if (!opened?.is_open) throw notFound('invitation');
      return joinWorkspace(tx, sql`i.invitation_id = ${invitation_id}`);
    }),
});
