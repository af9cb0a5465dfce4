import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { Paging } from '../../platform/core/paging.ts';
import { withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { ApiKey, apiKeyColumns, exampleApiKey } from './schema.ts';

export const listPersonalKeys = endpoint({
  method: 'GET',
  path: '/v1/me/api-keys',
  summary: 'List personal API keys',
  description: 'The keys are masked; revoked ones are omitted.',
  access: signedIn({ unrestricted: true }),
  query: Paging,
  paging: { keys: { 'k.key_id': 'text' } },
  reply: Type.Array(ApiKey),
  example: { reply: [exampleApiKey] },
  run: async ({ paging, many }) => {
    const keys = await many<ApiKey>(sql`
      select ${apiKeyColumns} from api_keys k
      where k.workspace_id is null and k.user_id = (select user_id from access) and k.revoked_at is null
      ${paging.clause}
    `);
    return keys.map(withoutNulls);
  },
});
