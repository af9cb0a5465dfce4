import { signedIn } from '../access/access-rule.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleWiki, toOrganizationWiki } from '../wikis/schema.ts';
import { type OverviewRow, overviewStatement, readOverview } from './overview.ts';
import { exampleUser, exampleWorkspace, Overview } from './schema.ts';

const { workspace_id: organization_id, ...organization } = exampleWorkspace;

export const getOverview = endpoint({
  method: 'GET',
  path: '/v1/overview',
  summary: 'Get the overview',
  description: "The caller's session, organizations, wikis and access rights.",
  access: signedIn(),
  reply: Overview,
  example: {
    reply: {
      access: [
        {
          organization_id,
          role: 'owner',
          can_manage_billing: true,
          can_manage_developers: true,
          can_manage_enterprise: true,
          can_manage_members: true,
        },
      ],
      session: { organizations: [{ organization_id, ...organization }], user: exampleUser, organization_id },
      wikis: [toOrganizationWiki(exampleWiki)],
    },
  },
  run: async ({ one }) => {
    const { user, workspaces, current, wikis } = readOverview(await one<OverviewRow>(overviewStatement));
    return {
      access: workspaces.map(({ workspace_id, role, flags }) => ({ organization_id: workspace_id, role, ...flags })),
      session: {
        organizations: workspaces.map(({ workspace_id, ...rest }) => ({ organization_id: workspace_id, ...rest })),
        user,
        organization_id: current?.workspace_id ?? '',
      },
      wikis: wikis.map(toOrganizationWiki),
    };
  },
});
