import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { effectivePermissions } from '../../platform/access/roles.ts';
import { InputText } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWorkspace, Workspace } from '../workspaces/schema.ts';
import { JOIN_ERRORS, joinWorkspace } from './join-workspace.ts';
import { hasSecret } from './schema.ts';

export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/v1/invitations/accept',
  summary: 'Accept an invitation',
  access: signedIn(),
  event: 'organization_membership.created',
  invitation: ({ body }) => body.token,
  body: Type.Object({ token: InputText() }),
  reply: Workspace,
  errors: JOIN_ERRORS,
  example: {
    body: { token: 'kZ0…' },
    reply: { ...exampleWorkspace, role: 'member', permissions: effectivePermissions('member', null) },
  },
  run: ({ body, transaction }) => transaction((tx) => joinWorkspace(tx, hasSecret(body.token))),
});
