import { Type } from 'typebox';
import { throughWidget } from '../access/access-rule.ts';
import { claimsOf } from '../access/credential-kinds.ts';
import type { Widget } from '../access/roles.ts';
import type { Endpoint } from './endpoint.ts';

/** What the path of an endpoint begins with, in place of which it names the widget. */
const CONTAINER = /^\/v1\/(?:workspaces\/:workspace_id|organizations\/:organization_id|me)(?=\/|$)/;

/**
 * The endpoint as it is served to the tokens of a widget: the same statement, schemas and audit record, below
 * `/v1/widgets/{widget}`, where the token names the workspace in place of the path.
 */
export function underWidget(widget: Widget, endpoint: Endpoint): Endpoint {
  const { access, path, summary, params, run } = endpoint;
  if ((access.on !== 'caller' && access.on !== 'workspace') || !CONTAINER.test(path)) {
    throw new Error(`${path} is neither about a workspace nor about the caller, so no widget has it`);
  }
  const container = access.on === 'workspace' ? access.param : undefined;
  const { [container ?? '']: _, ...rest } = params?.properties ?? {};
  return {
    ...endpoint,
    path: path.replace(CONTAINER, `/v1/widgets/${widget}`),
    summary: `${summary}, through the ${widget} widget`,
    access: throughWidget(widget, access),
    params: Object.keys(rest).length > 0 ? Type.Object(rest) : undefined,
    run: (context) => {
      const { credential, params } = context;
      const workspace_id = claimsOf(credential)?.workspace_id ?? '';
      return run({ ...context, params: container ? { ...(params as object), [container]: workspace_id } : params });
    },
  };
}
