import { Type } from 'typebox';
import { onWidget } from '../../platform/access/access-rule.ts';
import { Id, Record } from '../../platform/core/records.ts';
import { jsonObject } from '../../platform/db/json-object.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { ApiKey, apiKeyColumns, exampleApiKey } from '../keys/schema.ts';
import { Permissions, permissionsOf } from './schema.ts';

interface Row {
  organization_id: string;
  api_keys: ApiKey[];
  role: string;
  granted: string[] | null;
}

export const developersWidget = endpoint({
  method: 'GET',
  path: '/v1/widgets/developers',
  summary: 'Get the developers widget',
  description: "The workspace's API keys, masked; revoked ones are omitted.",
  access: onWidget('developers'),
  reply: Record(
    { organization_id: Id, permissions: Permissions, api_keys: Type.Array(ApiKey) },
    { title: 'DevelopersWidget' },
  ),
  example: {
    reply: {
      organization_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7',
      permissions: ['developers:manage'],
      api_keys: [exampleApiKey],
    },
  },
  run: async ({ one, credential }) => {
    const row = await one<Row>(sql`
      select a.workspace_id as organization_id, a.role, a.granted,
        coalesce((
          select json_agg(${jsonObject(ApiKey, apiKeyColumns)} order by k.key_id) from api_keys k
          where k.workspace_id = a.workspace_id and k.revoked_at is null), '[]') as api_keys
      from access a
    `);
    const { organization_id, api_keys } = row;
    return { organization_id, permissions: permissionsOf(credential, row), api_keys };
  },
});
