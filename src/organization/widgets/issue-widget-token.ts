import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { effectivePermissions, type Permission, WIDGETS } from '../../platform/access/roles.ts';
import { ApiError, forbidden } from '../../platform/core/errors.ts';
import { Id, InputText, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { readOrigins } from './schema.ts';

interface Issuer {
  user_id: string;
  workspace_id: string;
  issued_by: string | null;
  bound: boolean;
  role: string;
  granted: string[] | null;
  widget_origins: string[];
}

/**
 * Creates a token that ends with its key or session and has at most the permissions of that credential. A token without
 * an origin shows its widget but cannot change anything.
 */
export const issueWidgetToken = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/widget-token',
  summary: 'Issue a widget token',
  description:
    'A token for one embeddable widget, accepted below /v1/widgets/{widget}. With `origin`, users can make changes through the widget; the token is valid for 10 minutes and only in pages of that origin. Without it, the widget is read-only, and the token is valid for 60 minutes.',
  access: onWorkspace(''),
  whenUnpaid: true,
  params: Type.Object({ workspace_id: Id }),
  body: Type.Object({
    widget: Type.Enum(['profile', 'enterprise', 'developers']),
    origin: Type.Optional(
      InputText({
        description:
          "The origin of the page that shows the widget, as `https://host[:port]`: one of the workspace's widget origins, or the origin of this service.",
      }),
    ),
  }),
  reply: Record({ token: Type.String() }, { title: 'WidgetToken' }),
  errors: ['invalid_request', 'user_required'],
  example: { body: { widget: 'profile' }, reply: { token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IndpZGdldCtqd3QifQ.e30.c2ln' } },
  run: async ({ body, one, services }) => {
    const { widget_origins, ...issuer } = await one<Issuer>(sql`
      select a.user_id, a.workspace_id, coalesce(k.key_id, s.session_id) as issued_by, a.bound_workspace_id is not null as bound, a.role, a.granted,
        w.widget_origins
      from access a join workspaces w on w.workspace_id = a.workspace_id
      left join api_keys k on k.key_id = a.credential_id
      left join sessions s on s.session_id = a.credential_id
    `);
    const needed: Permission | '' = WIDGETS[body.widget];
    if (needed !== '' && !effectivePermissions(issuer.role, issuer.granted).includes(needed)) throw forbidden();
    if (body.widget === 'profile' && issuer.bound) {
      throw new ApiError('user_required', 'A profile belongs to a person: use a personal key or an access token.');
    }
    const { user_id, workspace_id, issued_by } = issuer;
    const origin =
      body.origin === undefined
        ? null
        : allowedOrigin(body.origin, [...widget_origins, new URL(services.publicUrl).origin]);
    return {
      token: await services.widgetTokens.sign({ user_id, workspace_id, issued_by, widget: body.widget, origin }),
    };
  },
});

/** Validates an origin. Throws 400 `invalid_request` if it is malformed or the workspace does not allow it. */
function allowedOrigin(text: string, allowed: readonly string[]): string {
  // The service's own origin may be one that `readOrigins` rejects.
  const origins = allowed.includes(text) ? [text] : readOrigins([text]);
  if (origins instanceof ApiError) throw origins;
  const [origin = ''] = origins;
  if (allowed.includes(origin)) return origin;
  throw new ApiError('invalid_request', `Pages of ${origin} may not show these widgets: add it to the widget origins.`);
}
