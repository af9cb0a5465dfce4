import { Type } from 'typebox';
import { onWidget } from '../../platform/access/access-rule.ts';
import { ROLES } from '../../platform/access/roles.ts';
import { Id, Record } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { type SeatCounts, Seats, seatColumns, seatsOf } from '../workspaces/seats.ts';
import { Permissions, permissionsOf } from './schema.ts';

const AccessSettings = Record(
  {
    organization_id: Id,
    name: Type.String(),
    slug: Type.String(),
    seats: Seats,
    permissions: Permissions,
    roles: Type.Array(
      Record(
        {
          slug: Type.String(),
          name: Type.String(),
          permissions: Type.Array(Type.String()),
          members: Type.Integer({ description: 'Active members with this role.' }),
        },
        { title: 'RolePermissions' },
      ),
    ),
  },
  { title: 'AccessSettings' },
);

interface SettingsRow extends SeatCounts {
  organization_id: string;
  name: string;
  slug: string;
  members: { [role: string]: number };
  role: string;
  held: string[] | null;
}

export const enterpriseWidget = endpoint({
  method: 'GET',
  path: '/v1/widgets/enterprise',
  summary: 'Get the enterprise widget',
  description: "The workspace's access settings: the permissions and members of each role, and the seats.",
  access: onWidget('enterprise'),
  reply: AccessSettings,
  example: {
    reply: {
      organization_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7',
      name: 'Acme',
      slug: 'acme',
      seats: { active: 1, used: 1, granted: 0, blocked: false, overage_allowed: false, pending: 0, unlimited: true },
      permissions: ['enterprise:manage', 'members:manage', 'members:read'],
      roles: ROLES.map(({ slug, name, permissions }) => ({
        slug,
        name,
        permissions: [...permissions],
        members: slug === 'owner' ? 1 : 0,
      })),
    },
  },
  run: async ({ one, credential }) => {
    const row = await one<SettingsRow>(sql`
      select w.workspace_id as organization_id, w.name, w.slug, a.role, a.granted as held, ${seatColumns},
        (
          select json_object_agg(role, members) from (
            select role, count(*) as members from memberships m
            where m.workspace_id = w.workspace_id and m.status = 'active' group by role) held) as members
      from access a join workspaces w on w.workspace_id = a.workspace_id
    `);
    const { organization_id, name, slug, members } = row;
    const roles = ROLES.map((role) => ({
      slug: role.slug,
      name: role.name,
      permissions: [...role.permissions],
      members: members[role.slug] ?? 0,
    }));
    return {
      organization_id,
      name,
      slug,
      seats: seatsOf(row),
      permissions: permissionsOf(credential, { role: row.role, granted: row.held }),
      roles,
    };
  },
});
