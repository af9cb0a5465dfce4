import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { candidatesForAttempt, SLUG_ATTEMPTS, slugCandidates } from '../../platform/core/chosen-slug.ts';
import { ApiError, forbidden } from '../../platform/core/errors.ts';
import { Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWiki, Wiki } from '../../wiki/wikis/schema.ts';
import { newWorkspaceCtes } from './new-workspace.ts';
import { type OverviewModel, type OverviewRow, overviewStatement, readOverview } from './overview.ts';
import { exampleUser, exampleWorkspace, User, Workspace, WorkspaceAccess } from './schema.ts';
import { seatsOfPlan, unpaidPlan } from './seats.ts';
import { enforceWorkspaceRateLimit } from './workspace-rate-limit.ts';

const Session = Record(
  {
    user: User,
    workspaces: Type.Array(Workspace),
    workspace_id: Type.Union([Type.String(), Type.Null()], { default: null, description: 'The current workspace.' }),
  },
  { title: 'HostedSession' },
);

const Onboarding = Record(
  {
    workspace: Workspace,
    workspace_created: Type.Boolean({ description: 'Whether this call created the workspace.' }),
    overview: Record(
      { session: Session, wikis: Type.Array(Wiki), access: Type.Array(WorkspaceAccess) },
      { title: 'HostedOverview' },
    ),
  },
  { title: 'Onboarding' },
);

/**
 * Idempotent: creates a personal workspace only for a caller without an active membership, and never accepts an
 * invitation. The lock on the user's row ensures that concurrent first calls create one workspace.
 */
export const onboarding = endpoint({
  method: 'POST',
  path: '/v1/onboarding',
  summary: 'Onboard the caller',
  description: "Returns the caller's workspace, created if there is none, and an overview. Any body is ignored.",
  access: signedIn(),
  event: 'workspace.created',
  createsWorkspace: true,
  reply: Onboarding,
  errors: ['forbidden'],
  example: {
    reply: {
      workspace: exampleWorkspace,
      workspace_created: true,
      overview: {
        session: { user: exampleUser, workspaces: [exampleWorkspace], workspace_id: exampleWorkspace.workspace_id },
        wikis: [exampleWiki],
        access: [
          {
            workspace_id: exampleWorkspace.workspace_id,
            role: 'owner',
            can_manage_billing: true,
            can_manage_developers: true,
            can_manage_members: true,
          },
        ],
      },
    },
  },
  run: async ({ new_workspace_id, maybeOne, transaction, services }) => {
    const readModel = async () => {
      const row = await maybeOne<OverviewRow>(overviewStatement(services));
      if (!row) throw new Error('a caller has no overview');
      return readOverview(row);
    };
    let model = await readModel();
    let created = false;
    const name = nameFor(model);
    // A workspace key of a former member is not a new user and gets no workspace.
    if (!model.current) {
      created = await transaction(async (tx) => {
        const member = await tx.maybeOne(sql`
          select 1 from access a join memberships m on m.user_id = a.user_id and m.status = 'active' limit 1`);
        const bound = await tx.maybeOne(sql`select 1 from access where bound_workspace_id is not null`);
        if (member || bound) return false;
        await enforceWorkspaceRateLimit(tx, services, model.user.user_id);
        const slugs = slugCandidates(null, name, 'workspace');
        if (slugs instanceof ApiError) throw slugs;
        const seats = seatsOfPlan(unpaidPlan(services));
        for (let attempt = 0; attempt < SLUG_ATTEMPTS; attempt += 1) {
          const ctes = newWorkspaceCtes(new_workspace_id, name, candidatesForAttempt(attempt, slugs), seats);
          if ((await tx.many(ctes)).length > 0) return true;
        }
        throw new Error('every slug was taken');
      });
      model = await readModel();
    }
    if (!model.current) throw forbidden();
    return reply(model, model.current.workspace_id, created);
  },
});

function reply(model: OverviewModel, workspaceId: string, workspace_created: boolean) {
  const workspaces = model.workspaces.map(({ flags, ...workspace }) => workspace);
  const workspace = workspaces.find((candidate) => candidate.workspace_id === workspaceId);
  if (!workspace) throw new Error("the current workspace is not one of the caller's");
  return {
    workspace,
    workspace_created,
    overview: {
      session: { user: model.user, workspaces, workspace_id: workspaceId },
      wikis: model.wikis,
      access: model.workspaces.map(({ workspace_id, role, flags: { can_manage_enterprise: _, ...flags } }) => ({
        workspace_id,
        role,
        ...flags,
      })),
    },
  };
}

function nameFor(model: OverviewModel): string {
  return [...model.user.display_name.trim()].slice(0, 100).join('') || 'Workspace';
}
