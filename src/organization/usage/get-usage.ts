import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { Id } from '../../platform/core/records.ts';
import { raw } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { Usage, type UsageRow } from './schema.ts';

export const getUsage = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/usage',
  summary: 'Get the usage of a workspace',
  description:
    'Usage and limit of everything that is limited. A request that would exceed a limit is refused with 409 `quota_exceeded`; existing content stays.',
  access: onWorkspace('members:read'),
  params: Type.Object({ workspace_id: Id }),
  reply: Type.Array(Usage),
  example: {
    reply: [
      { name: 'bytes', used: 48_318_382, limit: 107_374_182_400, unlimited: false },
      { name: 'pages', used: 1_204, limit: 0, unlimited: true },
    ],
  },
  run: async ({ many }) => {
    const rows = await many<UsageRow>(
      raw('select u.name, u.used, u.allowed from access a cross join lateral usage_of(a.workspace_id) u'),
    );
    return rows.map(({ name, used, allowed }) => ({
      name,
      used,
      limit: allowed ?? 0,
      unlimited: allowed === null,
    }));
  },
});
