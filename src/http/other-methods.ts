import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../core/errors.ts';

/** 405 with `Allow` for every method that a known path does not have. */
export function refuseOtherMethods(
  app: FastifyInstance,
  routes: readonly { method: string; path: string }[],
  config: { isUnmatched?: true } = {},
): void {
  const methodsOf = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const url = path.replace(/\*[a-z_]+$/, '*');
    methodsOf.set(url, [...(methodsOf.get(url) ?? []), method, ...(method === 'GET' ? ['HEAD'] : [])]);
  }
  for (const [url, methods] of methodsOf) {
    const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', methods.join(', '));
      const message = `This path answers ${methods.join(', ')}.`;
      throw new ApiError('method_not_allowed', message, { detail: 'Method Not Allowed' });
    };
    const others = app.supportedMethods.filter((method) => !methods.includes(method));
    app.route({ method: others, url, config, onRequest: refuse, handler: refuse });
  }
}
