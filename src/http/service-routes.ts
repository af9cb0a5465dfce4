import type { FastifyInstance } from 'fastify';
import { ApiError } from '../core/errors.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Endpoint } from './endpoint.ts';
import { docsPage } from './openapi/docs-page.ts';
import { describeApi } from './openapi/document.ts';
import { refuseOtherMethods } from './other-methods.ts';

/** Routes without a credential: liveness, readiness, version and description. */
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
      throw new ApiError('database_unavailable', 'The database does not answer just now.', { cause });
    }
    return { status: 'ok' };
  });
  app.get('/version', async () => ({ name: 'ibid', version }));
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(describe()));
  app.get('/docs', async (_request, reply) => {
    reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    return reply.type('text/html; charset=utf-8').send(docsPage(endpoints));
  });
  // The pages below /docs are those of the web application.
  const paths = ['/livez', '/readyz', '/version', '/openapi.json', '/docs', '/docs/errors', '/docs/getting-started'];
  refuseOtherMethods(
    app,
    paths.map((path) => ({ method: 'GET', path })),
  );
}
