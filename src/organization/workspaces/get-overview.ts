import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import { InputText } from '../../platform/core/records.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { exampleWiki, toOrganizationWiki } from '../../wiki/wikis/schema.ts';
import { NEAR_MAX, type OverviewRow, overviewNear, overviewStatement, readOverview } from './overview.ts';
import { exampleUser, exampleWorkspace, Overview } from './schema.ts';

const { workspace_id: organization_id, ...organization } = exampleWorkspace;

export const getOverview = endpoint({
  method: 'GET',
  path: '/v1/overview',
  summary: 'Get the overview',
  description: "The caller's session, organizations, wikis and access rights.",
  access: signedIn(),
  query: Type.Object({
    near: Type.Optional(
      InputText({
        description: `The slugs of a workspace and one of its wikis, such as acme/main. Limits the response to that wiki, the first ${NEAR_MAX} others of its workspace and the first ${NEAR_MAX} of other workspaces, with their organizations; the wiki's own organization is the current one. If the caller has no such wiki, the response has only the user.`,
      }),
    ),
  }),
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
  run: async ({ query: { near }, one, services }) => {
    const [workspaceSlug = '', wikiSlug = ''] = near?.split('/') ?? [];
    const statement =
      near === undefined ? overviewStatement(services) : overviewNear(services, workspaceSlug, wikiSlug);
    const { user, workspaces, current, wikis } = readOverview(await one<OverviewRow>(statement));
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
