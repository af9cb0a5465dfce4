import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { Id, InputText, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWorkspace } from './schema.ts';

export const restoreWorkspace = endpoint({
  method: 'POST',
  path: '/v1/me/deleted-workspaces/restore',
  summary: 'Restore a deleted workspace',
  description:
    'Restores the workspace with its members, roles, keys and invitations; its jobs continue. 404 if the workspace is not deleted, was deleted more than 30 days ago, or was not owned by the caller.',
  access: signedIn({ session: true }),
  event: 'workspace.restored',
  body: Type.Object({ workspace_id: InputText() }),
  reply: Record({ workspace_id: Id, name: Type.String(), slug: Type.String() }, { title: 'RestoredWorkspace' }),
  errors: ['not_found'],
  example: {
    body: { workspace_id: exampleWorkspace.workspace_id },
    reply: { workspace_id: exampleWorkspace.workspace_id, name: exampleWorkspace.name, slug: exampleWorkspace.slug },
  },
  run: ({ body, one }) =>
    one({
      named: sql`select d.* from access, deleted_workspaces() d where d.workspace_id = ${body.workspace_id}`,
      restored: sql`select n.*, restore_workspace(n.workspace_id) as is_restored from named n`,
      result: sql`select r.workspace_id, r.name, r.slug from restored r where r.is_restored`,
    }),
});
