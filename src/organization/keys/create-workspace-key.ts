import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createKey } from './create-key.ts';
import { ApiKeyInput, exampleNewApiKey, NewApiKey } from './schema.ts';

export const createWorkspaceKey = endpoint({
  method: 'POST',
  path: '/v1/workspaces/:workspace_id/api-keys',
  summary: "Create a workspace's API key",
  description: 'A key for this workspace only. It never has more permissions than its creator has at the time of use.',
  access: onWorkspace('developers:manage'),
  event: 'api_key.created',
  params: Type.Object({ workspace_id: Id }),
  body: ApiKeyInput,
  status: 201,
  reply: NewApiKey,
  errors: ['quota_exceeded', 'invalid_name', 'invalid_request'],
  example: { body: { name: 'Import script' }, reply: exampleNewApiKey },
  run: ({ body, ...db }) => createKey(db, body),
});
