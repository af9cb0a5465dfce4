import { Type } from 'typebox';
import { onWorkspace } from '../access/access-rule.ts';
import { ROLES } from '../access/roles.ts';
import { Id } from '../core/records.ts';
import { jsonObject } from '../db/json-object.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleInvitation, Invitation, invitationColumns } from '../invitations/schema.ts';
import { manageFlags } from '../workspaces/schema.ts';
import { type SeatCounts, seatColumns, seatsOf } from '../workspaces/seats.ts';
import { exampleMember, Member, MembersList, memberColumns } from './schema.ts';

const roles = ROLES.map(({ name, slug, description }) => ({ name, slug, description }));

interface MembersRow extends SeatCounts {
  workspace_id: string;
  role: string;
  granted_permissions: string[] | null;
  invitations: Invitation[];
  members: Member[];
}

const workspace_id = 'org_01jd8w3v6xf3e8h2k9m4n5p6q7';

export const listMembers = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/members',
  summary: 'List members',
  description:
    'All members, active and inactive, by the time they came; the pending invitations, the roles and the seats.',
  access: onWorkspace('members:read'),
  params: Type.Object({ workspace_id: Id }),
  reply: MembersList,
  example: {
    reply: {
      seats: { active: 1, used: 2, granted: 0, blocked: false, overage_allowed: false, pending: 1, unlimited: true },
      viewer: { role: 'owner', workspace_id, ...manageFlags('owner', null) },
      workspace_id,
      invitations: [exampleInvitation],
      members: [exampleMember],
      roles,
    },
  },
  run: async ({ one }) => {
    const row = await one<MembersRow>(sql`
      select w.workspace_id, a.role, a.granted as granted_permissions, ${seatColumns},
        coalesce((
          select json_agg(${jsonObject(Invitation, invitationColumns)} order by i.invitation_id)
          from invitations i
          where i.workspace_id = w.workspace_id and i.state = 'pending' and i.expires_at > now()), '[]') as invitations,
        (
          select json_agg(${jsonObject(Member, memberColumns)} order by m.created_at, m.membership_id)
          from memberships m join users u on u.user_id = m.user_id
          where m.workspace_id = w.workspace_id) as members
      from access a join workspaces w on w.workspace_id = a.workspace_id
    `);
    return {
      seats: seatsOf(row),
      viewer: { role: row.role, workspace_id: row.workspace_id, ...manageFlags(row.role, row.granted_permissions) },
      workspace_id: row.workspace_id,
      invitations: row.invitations,
      members: row.members,
      roles,
    };
  },
});
