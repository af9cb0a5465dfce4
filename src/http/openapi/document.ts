import type { Endpoint } from '../endpoint.ts';
import { operation } from './operation.ts';
import { sharedComponents } from './responses.ts';
import { TAGS, tagOf } from './tags.ts';

/** The version of the API description; it stays the same within /v1. */
const API_VERSION = '0.4.0';

/** The OpenAPI 3.1 description, computed from the list of endpoints. */
export function describeApi(endpoints: readonly Endpoint[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/[:*]([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ibid: Hosted Wiki Workspace API',
      version: API_VERSION,
      description: 'Hosted wikis, the workspaces (also called organizations) that own them, and all that is in them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    security: [{ bearer: [] }],
    tags: [...new Set(endpoints.map(tagOf))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or an access token: of a session, or of the configured issuer.',
        },
        widget: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A widget token.' },
      },
      ...sharedComponents(),
    },
  };
}
