import type { FastifyReply, FastifyRequest } from 'fastify';
import { claimsOf } from '../access/credential-kinds.ts';
import type { ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { sql } from '../db/sql.ts';

/**
 * Decides by CORS headers which other sites' pages may read the answers of widgets: those that the token's workspace
 * allows. The token alone decides what is answered.
 */
export interface WidgetCors {
  /** Whether this is a CORS preflight request of a browser. */
  isPreflight(request: FastifyRequest): boolean;
  /** A preflight carries no token, so it is answered for an origin that any workspace allows. */
  answerPreflight(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Sets the headers that tell the browser whether the requesting page may read the answer. */
  setHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** How many seconds a browser may cache the answer to a preflight. */
const PREFLIGHT_MAX_AGE = '60';

export function openWidgetCors(db: ServiceDb): WidgetCors {
  async function allow(request: FastifyRequest, reply: FastifyReply, workspace_id: string | null): Promise<boolean> {
    const { origin } = request.headers;
    if (origin === undefined || origin === 'null') return false;
    const path = workspace_id === null ? undefined : { workspace_id };
    const [row] = await db
      .in({ ...SERVICE, path })
      .query<{ allowed: boolean }>(sql`select widget_origin_is_allowed(${origin}, ${workspace_id}) as allowed`);
    if (row?.allowed !== true) return false;
    reply.header('access-control-allow-origin', origin);
    return true;
  }

  return {
    isPreflight: ({ method, headers, routeOptions }) =>
      method === 'OPTIONS' &&
      headers.origin !== undefined &&
      headers['access-control-request-method'] !== undefined &&
      routeOptions.url?.startsWith('/v1/widgets/') === true,

    async answerPreflight(request, reply) {
      reply.header('vary', 'origin');
      if (await allow(request, reply, null)) {
        reply.headers({
          'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
          'access-control-allow-headers': 'authorization, content-type, idempotency-key, x-request-id',
          'access-control-max-age': PREFLIGHT_MAX_AGE,
        });
      }
      reply.code(204);
    },

    async setHeaders(request, reply) {
      reply.header('vary', 'authorization, origin');
      // The page that shows the widget may also read that its token is no longer valid.
      const workspace_id = claimsOf(request.credential)?.workspace_id ?? null;
      if (await allow(request, reply, workspace_id)) {
        reply.header('access-control-expose-headers', 'x-request-id, retry-after, link');
      }
    },
  };
}
