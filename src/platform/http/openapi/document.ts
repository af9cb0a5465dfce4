import type { Endpoint } from '../endpoint.ts';
import { ERRORS_PATH } from './error-codes.ts';
import { namedSchemas, withNamedBodies } from './named-schemas.ts';
import { operation } from './operation.ts';
import { sharedComponents } from './responses.ts';
import { describeTags } from './tags.ts';

/** The version of the API description; constant within /v1. */
const API_VERSION = '0.4.0';

const ABOUT = `Hosted wikis, the workspaces (also called organizations) that own them, and everything in them.

Start with [ten minutes of the API](/docs/getting-started). [Errors](${ERRORS_PATH}) explains every error code.

Send a credential with each request: \`Authorization: Bearer <API key or access token>\`.`;

/** Computes the OpenAPI 3.1 description from the list of endpoints. */
export function describeApi(all: readonly Endpoint[]) {
  const endpoints = withNamedBodies(all);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/[:*]([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  const shared = sharedComponents(paths);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ibid: Hosted Wiki Workspace API',
      version: API_VERSION,
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    security: [{ bearer: [] }],
    ...describeTags(endpoints),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or an access token from a session or from the configured issuer.',
        },
        widget: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A widget token.' },
      },
      ...shared,
      schemas: {
        ...shared.schemas,
        ...namedSchemas(
          endpoints.flatMap(({ status, reply, body, form }) => [
            ...(status === 204 ? [] : [form?.reply ?? reply]),
            ...(body ? [body] : []),
          ]),
        ),
      },
    },
  };
}
