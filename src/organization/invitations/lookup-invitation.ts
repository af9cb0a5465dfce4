import { Type } from 'typebox';
import { anyone } from '../../platform/access/access-rule.ts';
import { refusal } from '../../platform/access/before-sign-in.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { hasSecret, InvitationOffer, presentState } from './schema.ts';

/**
 * Returns the details that the page of the link shows before the invited person signs in. The secret is the credential.
 */
export const lookupInvitation = endpoint({
  method: 'GET',
  path: '/v1/invitations/lookup',
  summary: 'Look up an invitation',
  access: anyone(),
  givesBack: 1,
  invitation: ({ query }) => query.token,
  query: Type.Object({ token: Type.String({ minLength: 1, maxLength: 256, description: 'The secret of the link.' }) }),
  reply: InvitationOffer,
  errors: ['not_found'],
  example: {
    reply: {
      workspace_name: 'Acme',
      inviter_name: 'Ada Lovelace',
      email: 'grace@example.com',
      role: 'member',
      state: 'pending',
      expires_at: '2026-11-28T05:29:32.104Z',
      signs_in: true,
    },
  },
  run: async ({ query, maybeOne }) => {
    const offer = await maybeOne<InvitationOffer>(sql`
      select w.name as workspace_name, coalesce(u.display_name, 'A former member') as inviter_name, i.email, i.role, ${presentState} as state, i.expires_at,
        coalesce((select not m.has_account from mailed_invitation(${sha256(query.token)}) m), false) as signs_in
      from invitations i
      join workspaces w on w.workspace_id = i.workspace_id and w.deleted_at is null
      left join users u on u.user_id = i.invited_by
      where ${hasSecret(query.token)}
    `);
    if (!offer) throw refusal('invitation_unknown');
    return offer;
  },
});
