import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { candidatesForAttempt, SLUG_ATTEMPTS, slugCandidates, slugTaken } from '../../platform/core/chosen-slug.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText } from '../../platform/core/records.ts';
import { readName } from '../../platform/core/titles.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { newWorkspaceCtes } from './new-workspace.ts';
import { exampleWorkspace, toWorkspace, Workspace, type WorkspaceRow } from './schema.ts';
import { seatsOfPlan, unpaidPlan } from './seats.ts';
import { enforceWorkspaceRateLimit } from './workspace-rate-limit.ts';

interface Caller {
  user_id: string;
  /** Whether the credential is limited to one workspace. */
  bound: boolean;
  granted: string[] | null;
}

export const createWorkspace = endpoint({
  method: 'POST',
  path: '/v1/workspaces',
  summary: 'Create a workspace',
  description:
    'The caller becomes its owner. The workspace starts with one wiki. If no slug is given, it is derived from the name.',
  access: signedIn(),
  event: 'workspace.created',
  createsWorkspace: true,
  body: Type.Object({
    name: InputText({ minLength: 1 }),
    slug: Type.Optional(Type.Union([InputText(), Type.Null()])),
  }),
  reply: Workspace,
  errors: ['invalid_name', 'invalid_slug', 'slug_taken', 'key_is_workspace_bound'],
  example: { body: { name: 'Acme', slug: 'acme' }, reply: exampleWorkspace },
  run: async ({ body, new_workspace_id, maybeOne, transaction, refuse, services }) => {
    const caller = await maybeOne<Caller>(
      sql`select user_id, bound_workspace_id is not null as bound, granted from access`,
    );
    if (!caller) throw new Error('a caller has no access');
    if (caller.bound) {
      throw new ApiError(
        'key_is_workspace_bound',
        'This key is bound to one workspace and cannot create another. Use a personal key.',
      );
    }
    const name = readName(body.name);
    if (name instanceof ApiError) return refuse(name);
    const slugs = slugCandidates(body.slug, name, 'workspace');
    if (slugs instanceof ApiError) throw slugs;
    return transaction(async (tx) => {
      await enforceWorkspaceRateLimit(tx, services, caller.user_id);
      for (let attempt = 0; attempt < SLUG_ATTEMPTS; attempt += 1) {
        const [made] = await tx.many<WorkspaceRow>(
          newWorkspaceCtes(
            new_workspace_id,
            name,
            candidatesForAttempt(attempt, slugs),
            seatsOfPlan(unpaidPlan(services)),
          ),
        );
        if (made) return toWorkspace(made, caller.granted);
        if (typeof body.slug === 'string') throw slugTaken(body.slug);
      }
      throw new Error('every slug was taken');
    });
  },
});
