import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerContext } from '../access/caller-context.ts';
import type { ServiceDb } from '../db/db.ts';
import { sql } from '../db/sql.ts';

/**
 * Which other sites' pages a browser lets read what widgets answer: those that the token's workspace allows. The token
 * alone decides what is answered; this decides who else's page may see it.
 */
export interface WidgetCors {
  /** Whether this is a browser that asks in advance on behalf of another site's page. */
  isPreflight(request: FastifyRequest): boolean;
  /** A preflight carries no token: the answer is for an origin that any workspace allows. */
  answerPreflight(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Says in the headers of an answer whether the page that asked may read it. */
  mark(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Seconds that a browser may believe a preflight's answer. */
const BELIEVED = '60';

export function openWidgetCors(db: ServiceDb): WidgetCors {
  async function allow(request: FastifyRequest, reply: FastifyReply, workspace_id: string | null): Promise<boolean> {
    const { origin } = request.headers;
    if (origin === undefined || origin === 'null') return false;
    const [row] = await db
      .in(callerContext({ kind: 'none' }))
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
          'access-control-allow-methods': 'GET',
          'access-control-allow-headers': 'authorization, x-request-id',
          'access-control-max-age': BELIEVED,
        });
      }
      reply.code(204);
    },

    async mark(request, reply) {
      reply.header('vary', 'authorization, origin');
      // Whoever's token is not good any more may know that from the page that they see it in.
      const { credential } = request;
      const workspace_id = credential?.kind === 'widget' ? credential.claims.workspace_id : null;
      if (await allow(request, reply, workspace_id)) {
        reply.header('access-control-expose-headers', 'x-request-id, retry-after');
      }
    },
  };
}
