import type { FastifyInstance } from 'fastify';
import { ApiError } from '../core/errors.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Endpoint } from './endpoint.ts';
import { describeApi } from './openapi/document.ts';
import { refuseOtherMethods } from './other-methods.ts';

/** Registers the routes without a credential: liveness, readiness, version and API description. */
export function registerServiceRoutes(
  app: FastifyInstance,
  options: { endpoints: readonly Endpoint[]; query: Query; version: string },
): void {
  const { endpoints, query, version } = options;
  let description: string | undefined;
  const describe = () => (description ??= JSON.stringify(describeApi(endpoints)));

  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    try {
      await query(sql`select 1`);
    } catch (cause) {
      throw new ApiError('database_unavailable', 'The database is not responding.', { cause });
    }
    return { status: 'ok' };
  });
  app.get('/version', async () => ({ name: 'ibid', version }));
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(describe()));
  const own = ['/livez', '/readyz', '/version', '/openapi.json'];
  // Served by the web application.
  const pages = ['/docs', '/docs/openapi.json', '/docs/errors', '/docs/getting-started'];
  refuseOtherMethods(
    app,
    [...own, ...pages].map((path) => ({ method: 'GET', path })),
  );
}
