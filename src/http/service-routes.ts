import type { FastifyInstance } from 'fastify';
import { ApiError } from '../core/errors.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Endpoint } from './endpoint.ts';
import { describeApi } from './openapi/document.ts';
import { describeForReference } from './openapi/reference.ts';
import { refuseOtherMethods } from './other-methods.ts';

/** Routes without a credential: liveness, readiness, version and description. */
export function registerServiceRoutes(
  app: FastifyInstance,
  options: { endpoints: readonly Endpoint[]; query: Query; version: string; publicUrl: string },
): void {
  const { endpoints, query, version, publicUrl } = options;
  let description: string | undefined;
  let reference: string | undefined;
  const describe = () => (description ??= JSON.stringify(describeApi(endpoints)));
  const refer = () => (reference ??= JSON.stringify(describeForReference(endpoints, publicUrl)));

  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    try {
      await query(sql`select 1`);
    } catch (cause) {
      throw new ApiError('database_unavailable', 'The database does not answer just now.', { cause });
    }
    return { status: 'ok' };
  });
  app.get('/version', async () => ({ name: 'ibid', version }));
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(describe()));
  app.get('/docs/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(refer()));
  const own = ['/livez', '/readyz', '/version', '/openapi.json', '/docs/openapi.json'];
  const pages = ['/docs', '/docs/errors', '/docs/getting-started'];
  refuseOtherMethods(
    app,
    [...own, ...pages].map((path) => ({ method: 'GET', path })),
  );
}
