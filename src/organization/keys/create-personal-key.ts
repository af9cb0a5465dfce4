import { signedIn } from '../../platform/access/access-rule.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createKey } from './create-key.ts';
import { ApiKeyInput, exampleNewApiKey, NewApiKey } from './schema.ts';

export const createPersonalKey = endpoint({
  method: 'POST',
  path: '/v1/me/api-keys',
  summary: 'Create a personal API key',
  description: 'A key that acts as the caller in all their workspaces. A workspace key cannot create one.',
  access: signedIn({ unrestricted: true }),
  event: 'api_key.created',
  body: ApiKeyInput,
  status: 201,
  reply: NewApiKey,
  errors: ['invalid_name', 'invalid_request'],
  example: { body: { name: 'Import script' }, reply: exampleNewApiKey },
  run: ({ body, ...db }) => createKey(db, body),
});
