import { type Static, Type } from 'typebox';
import { avatarUrl, type OwnAddress } from '../../platform/access/avatar-url.ts';
import { Flag, Id, Record, Text } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { Invitation } from '../invitations/schema.ts';
import { Seats } from '../workspaces/seats.ts';

export const Member = Record(
  {
    membership_id: Id,
    user_id: Id,
    display_name: Type.String(),
    email: Type.String(),
    role: Type.String(),
    avatar_url: Text,
    status: Type.String({ default: 'active', description: 'active or inactive.' }),
  },
  { title: 'Member' },
);
export type Member = Static<typeof Member>;

/** The members of a workspace with the data needed to manage them. */
export const MembersList = Record(
  {
    seats: Seats,
    viewer: Record(
      {
        role: Type.String(),
        workspace_id: Id,
        can_manage_billing: Flag,
        can_manage_developers: Flag,
        can_manage_enterprise: Flag,
        can_manage_members: Flag,
      },
      { title: 'Viewer' },
    ),
    workspace_id: Id,
    invitations: Type.Array(Invitation),
    members: Type.Array(Member),
    roles: Type.Array(Record({ name: Type.String(), slug: Type.String(), description: Text }, { title: 'Role' })),
  },
  { title: 'MembersList' },
);
export type MembersList = Static<typeof MembersList>;

/** Columns of Member, from a membership `m` and its user `u`. */
export function memberColumns(service: OwnAddress): Sql {
  return sql`
    m.membership_id, m.user_id, u.display_name, u.email, m.role, ${avatarUrl(service)} as avatar_url, m.status`;
}

/** The CTE that reads a membership of the guard's workspace before the statement changes it. */
export function memberCte(service: OwnAddress, membership_id: string): Sql {
  return sql`
    select ${memberColumns(service)} from access a
    join memberships m on m.workspace_id = a.workspace_id and m.membership_id = ${membership_id}
    join users u on u.user_id = m.user_id`;
}

export const exampleMember: Member = {
  membership_id: 'mem_01jd8w3v6xf3e8h2k9m4n5p6r1',
  user_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  display_name: 'Ada Lovelace',
  email: 'ada@example.com',
  role: 'owner',
  avatar_url: '',
  status: 'active',
};
