import { Type } from 'typebox';
import { onWorkspace } from '../../../platform/access/access-rule.ts';
import { Id } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

export const deleteLogo = endpoint({
  method: 'DELETE',
  path: '/v1/workspaces/:workspace_id/logo',
  summary: "Remove a workspace's logo",
  description: 'The workspace shows the first letter of its name again. Without a logo, nothing changes.',
  access: onWorkspace('enterprise:manage'),
  event: 'workspace.logo_changed',
  params: Type.Object({ workspace_id: Id }),
  status: 204,
  reply: Type.Null(),
  example: { reply: null },
  run: async ({ many }) => {
    await many({
      before: sql`
        select w.workspace_id, w.logo_sha256, w.logo_type, w.logo_bytes
        from workspaces w join access a on a.workspace_id = w.workspace_id
        where w.deleted_at is null and w.logo_sha256 is not null for no key update of w`,
      after: sql`
        update workspaces w set logo_sha256 = null, logo_type = null, logo_bytes = null
        from before where w.workspace_id = before.workspace_id
        returning w.workspace_id, w.logo_sha256, w.logo_type, w.logo_bytes`,
      result: sql`select workspace_id from after`,
    });
    return null;
  },
});
