import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { Id, withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { ApiKey, apiKeyColumns, exampleApiKey } from './schema.ts';

export const listWorkspaceKeys = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/api-keys',
  summary: "List a workspace's API keys",
  description: 'The keys are masked; revoked ones are omitted.',
  access: onWorkspace('developers:manage'),
  params: Type.Object({ workspace_id: Id }),
  query: Paging,
  paging: { keys: { 'k.key_id': 'text' } },
  reply: Type.Array(ApiKey),
  example: { reply: [exampleApiKey] },
  run: async ({ params, paging, many }) => {
    const keys = await many<ApiKey>(sql`
      select ${apiKeyColumns} from api_keys k
      where k.workspace_id = ${params.workspace_id} and k.revoked_at is null
      ${paging.clause}
    `);
    return keys.map(withoutNulls);
  },
});
