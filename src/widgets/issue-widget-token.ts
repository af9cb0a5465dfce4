import { Type } from 'typebox';
import { onWorkspace } from '../access/access-rule.ts';
import { effectivePermissions, type Permission, WIDGETS } from '../access/roles.ts';
import { ApiError, forbidden } from '../core/errors.ts';
import { Id, Record } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';

interface Issuer {
  user_id: string;
  workspace_id: string;
  issued_by: string | null;
  bound: boolean;
  role: string;
  granted: string[] | null;
}

/** A token ends with the key or the session that asked for it: it is never worth more than what it was made with. */
export const issueWidgetToken = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/widget-token',
  summary: 'Issue a widget token',
  description: 'A token for one embeddable widget, good for 60 minutes and only at /v1/widgets/{widget}.',
  access: onWorkspace(''),
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({ widget: Type.Enum(['profile', 'enterprise', 'developers']) }),
  reply: Record({ token: Type.String() }),
  errors: ['user_required'],
  example: { body: { widget: 'profile' }, reply: { token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IndpZGdldCtqd3QifQ.e30.c2ln' } },
  run: async ({ body, one, services }) => {
    const issuer = await one<Issuer>(sql`
      select a.user_id, a.workspace_id, coalesce(k.key_id, s.session_id) as issued_by, a.bound_workspace_id is not null as bound, a.role, a.granted
      from access a
      left join api_keys k on k.key_id = a.credential_id
      left join sessions s on s.session_id = a.credential_id
    `);
    const needed: Permission | '' = WIDGETS[body.widget];
    if (needed !== '' && !effectivePermissions(issuer.role, issuer.granted).includes(needed)) throw forbidden();
    if (body.widget === 'profile' && issuer.bound) {
      throw new ApiError('user_required', "A profile is a person's: ask with a personal key or an access token.");
    }
    const { user_id, workspace_id, issued_by } = issuer;
    return { token: await services.widgetTokens.sign({ user_id, workspace_id, issued_by, widget: body.widget }) };
  },
});
