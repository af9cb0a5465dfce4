import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { ApiError } from '../core/errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    knownPaths: KnownPaths;
  }
}

/** Finds the methods of a path, whatever the method of the request is. */
export interface KnownPaths {
  add(url: string, methods: readonly string[]): void;
  /** Throws 405 with `Allow` if the address matches a known path. */
  refuse(address: string, reply: FastifyReply): void;
}

/**
 * The methods that clients use. Each path refuses its missing ones with routes of its own, because another path may
 * match the address too: `PATCH …/pages/search` is not the page `search`. HTTP has thirty more methods, which no path
 * has. Routes for them would take most of the router's memory and build time, so openKnownPaths() refuses them.
 */
const USUAL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** `maxParamLength`: as for the server's own router. */
export function openKnownPaths(maxParamLength: number): KnownPaths {
  const router = findMyWay({ maxParamLength });
  return {
    add: (url, methods) => router.on('GET', url, () => undefined, methods),
    refuse(address, reply) {
      const methods: string[] | undefined = router.find('GET', address)?.store;
      if (methods) refuse(reply, methods);
    },
  };
}

/** Answers 405 with `Allow` for every method that a known path does not have. */
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
    app.knownPaths.add(url, methods);
    const onRequest = async (_request: FastifyRequest, reply: FastifyReply) => refuse(reply, methods);
    const others = USUAL_METHODS.filter((method) => !methods.includes(method));
    app.route({ method: others, url, config, onRequest, handler: onRequest });
  }
}

function refuse(reply: FastifyReply, methods: readonly string[]): never {
  reply.header('allow', methods.join(', '));
  const message = `This path supports ${methods.join(', ')}.`;
  throw new ApiError('method_not_allowed', message, { detail: 'Method Not Allowed' });
}
