import { Type } from 'typebox';
import { throughWidget } from '../access/access-rule.ts';
import { claimsOf } from '../access/credential-kinds.ts';
import type { Widget } from '../access/roles.ts';
import type { Endpoint } from './endpoint.ts';

/** The beginning of an endpoint's path, which is replaced with the widget. */
const CONTAINER = /^\/v1\/(?:workspaces\/:workspace_id|organizations\/:organization_id|me)(?=\/|$)/;

/**
 * Derives the endpoint for a widget's tokens: the same statement, schemas and audit record under
 * `/v1/widgets/{widget}`. The token names the workspace instead of the path.
 */
export function underWidget(widget: Widget, endpoint: Endpoint): Endpoint {
  const { access, path, summary, params, run } = endpoint;
  if ((access.on !== 'caller' && access.on !== 'workspace') || !CONTAINER.test(path)) {
    throw new Error(`${path} is neither about a workspace nor about the caller, so it cannot be a widget endpoint`);
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
