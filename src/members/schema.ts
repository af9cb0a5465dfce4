import { type Static, Type } from 'typebox';
import { seatLimitReached } from '../core/errors.ts';
import { Flag, Id, Record, Text } from '../core/records.ts';
import { raw, type Sql, sql } from '../db/sql.ts';

export const Member = Record({
  membership_id: Id,
  user_id: Id,
  display_name: Type.String(),
  email: Type.String(),
  role: Type.String(),
  avatar_url: Text,
  status: Type.String({ default: 'active', description: 'active or inactive.' }),
});
export type Member = Static<typeof Member>;

export const Seats = Record({
  active: Type.Integer({ description: 'Active memberships.' }),
  used: Type.Integer({ description: 'Active memberships and pending invitations.' }),
  granted: Type.Integer({ description: 'Seats that the plan gives; 0 where they are unlimited.' }),
  blocked: Type.Boolean({ default: false, description: 'Nobody more can be invited.' }),
  overage_allowed: Flag,
  pending: Type.Integer({ default: 0, description: 'Pending invitations.' }),
  unlimited: Flag,
});
export type Seats = Static<typeof Seats>;

export interface SeatCounts {
  active: number;
  pending: number;
  granted: number;
  unlimited: boolean;
  overage_allowed: boolean;
}

/** The columns of SeatCounts for the workspace `w` of a statement. An invitation past its time takes no seat. */
export const seatColumns: Sql = raw(`
  (select count(*)::int from memberships s where s.workspace_id = w.workspace_id and s.status = 'active') as active,
  (select count(*)::int from invitations s where s.workspace_id = w.workspace_id and s.state = 'pending'
    and s.expires_at > now()) as pending,
  w.seats_granted as granted, w.seats_unlimited as unlimited, w.seats_overage as overage_allowed`);

/** What the counts come to. */
export function seatsOf({ active, pending, granted, unlimited, overage_allowed }: SeatCounts): Seats {
  const used = active + pending;
  return {
    active,
    pending,
    used,
    granted: unlimited ? 0 : granted,
    unlimited,
    overage_allowed,
    blocked: !unlimited && !overage_allowed && used >= granted,
  };
}

/** 409 `seat_limit_reached` where nobody more can become a member. Decide it under the lock on the workspace. */
export function refuseWithoutSeat(counts: SeatCounts): void {
  if (seatsOf(counts).blocked) throw seatLimitReached();
}

/** The columns of Member from a membership `m` and its user `u`. */
export const memberColumns: Sql = sql`
  m.membership_id, m.user_id, u.display_name, u.email, m.role, u.avatar_url, m.status`;

/** The step that reads a membership of the door's workspace as it is before the statement changes it. */
export function memberStep(membership_id: string): Sql {
  return sql`
    select ${memberColumns} from access a
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
