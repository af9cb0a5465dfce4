import { Type } from 'typebox';
import { onWorkspace } from '../../platform/access/access-rule.ts';
import { contains, PeopleQuery } from '../../platform/access/people.ts';
import { ROLES } from '../../platform/access/roles.ts';
import { Cursor } from '../../platform/core/paging.ts';
import { Id } from '../../platform/core/records.ts';
import { jsonObject } from '../../platform/db/json-object.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
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

/** A member with the sort key `joined`, which is removed from the response. */
const ListedMember = Type.Object({ ...Member.properties, joined: Type.String() });

const pendingInvitations = sql`
  coalesce((
    select json_agg(${jsonObject(Invitation, invitationColumns)} order by i.invitation_id)
    from invitations i
    where i.workspace_id = w.workspace_id and i.state = 'pending' and i.expires_at > now()), '[]') as invitations`;

/** Condition that the name or address of the member `m` contains the text. */
const isFound = (text: string) => sql`exists (
  select from users u where u.user_id = m.user_id and (${contains(sql`u.display_name`, text)} or ${contains(sql`u.email`, text)}))`;

const workspace_id = 'org_01jd8w3v6xf3e8h2k9m4n5p6q7';

export const listMembers = endpoint({
  method: 'GET',
  path: '/v1/workspaces/:workspace_id/members',
  summary: 'List members',
  description:
    'All members, active and inactive, by the time they joined, with the pending invitations, the roles and the seats. `limit` limits the number of members, and the `Link` header leads to the next page. `query` searches members. `invitations=none` omits the invitations, which have a list of their own.',
  access: onWorkspace('members:read'),
  params: Type.Object({ workspace_id: Id }),
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 500, description: 'Maximum number of members; all by default.' }),
    ),
    after: Cursor,
    user_id: Type.Optional(
      Type.String({
        pattern: '^[^,]{1,100}(,[^,]{1,100}){0,99}$',
        description: 'Only these users: up to 100 IDs, separated by commas.',
      }),
    ),
    query: PeopleQuery,
    invitations: Type.Optional(
      Type.Enum(['all', 'none'], {
        description: 'Pending invitations to include: `all` by default; `none` leaves the list empty.',
      }),
    ),
  }),
  paging: { keys: { 'm.joined': 'timestamp', 'm.membership_id': 'text' }, counted: ({ members }) => members },
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
  run: async ({ params: { workspace_id }, query: { limit, user_id, query, invitations }, paging, one, services }) => {
    const ofUsers = user_id === undefined ? raw('') : sql`where user_id = any (${user_id.split(',')}::text[]) offset 0`;
    // For a few members, look up each user by index; for the whole list, join.
    const isWhole = limit === undefined && user_id === undefined;
    const users = isWhole
      ? raw('join users u on u.user_id = m.user_id')
      : raw('cross join lateral (select * from users u where u.user_id = m.user_id offset 0) u');
    const row = await one<MembersRow>(sql`
      select w.workspace_id, a.role, a.granted as granted_permissions, ${seatColumns},
        ${invitations === 'none' ? sql`'[]'::json as invitations` : pendingInvitations},
        coalesce((
          select json_agg(${jsonObject(ListedMember, sql`${memberColumns(services)}, m.joined::text as joined`)} order by m.joined, m.membership_id)
          from (
            select m.* from (select *, created_at as joined from memberships ${ofUsers}) m
            where m.workspace_id = ${workspace_id} ${query === undefined ? raw('') : sql`and ${isFound(query)}`} ${paging.clause}
          ) m ${users}), '[]') as members
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
