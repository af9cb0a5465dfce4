import type { FastifyReply, FastifyRequest } from 'fastify';
import { claimsOf } from '../access/credential-kinds.ts';
import type { ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { sql } from '../db/sql.ts';

/**
 * Sets CORS headers that decide which sites' pages may read the responses of widgets: pages of origins that the token's
 * workspace allows. The content of a response depends only on the token.
 */
export interface WidgetCors {
  /** Returns whether this is a CORS preflight request of a browser. */
  isPreflight(request: FastifyRequest): boolean;
  /** Answers a preflight. It carries no token, so any workspace may allow its origin. */
  answerPreflight(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Sets the headers that tell the browser whether the requesting page may read the response. */
  setHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Seconds for which browsers may cache the response to a preflight. */
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
      // If the token is no longer valid, the page with the widget may still read that error.
      const workspace_id = claimsOf(request.credential)?.workspace_id ?? null;
      if (await allow(request, reply, workspace_id)) {
        reply.header('access-control-expose-headers', 'x-request-id, retry-after, link');
      }
    },
  };
}
