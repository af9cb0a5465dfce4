import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { apiKeyColumns } from './schema.ts';

/** Effective for every request that starts after the response, because each request looks up its key. */
export const revokeWorkspaceKey = endpoint({
  method: 'DELETE',
  path: '/v1/workspaces/:workspace_id/api-keys/:key_id',
  summary: "Revoke a workspace's API key",
  access: onWorkspace('developers:manage'),
  whenUnpaid: true,
  event: 'api_key.revoked',
  params: Type.Object({ workspace_id: Id, key_id: Id }),
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ params, one }) => {
    await one({
      k: sql`
        update api_keys k set revoked_at = now() from access a
        where k.key_id = ${params.key_id} and k.workspace_id = a.workspace_id and k.revoked_at is null
        returning k.*`,
      before: sql`select ${apiKeyColumns} from k`,
      result: sql`select from before`,
    });
    return null;
  },
});
