import { type Static, Type } from 'typebox';
import { seatLimitReached } from '../core/errors.ts';
import { Flag, Record } from '../core/records.ts';
import { raw, type Sql } from '../db/sql.ts';

export const Seats = Record({
  active: Type.Integer({ description: 'Active memberships.' }),
  used: Type.Integer({ description: 'Active memberships and pending invitations.' }),
  granted: Type.Integer({ description: 'Seats that the plan gives; 0 where they are unlimited.' }),
  blocked: Type.Boolean({ default: false, description: 'No further member can be invited.' }),
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

/** 409 `seat_limit_reached` where no further member can join. Decide it under the lock on the workspace. */
export function refuseWithoutSeat(counts: SeatCounts): void {
  if (seatsOf(counts).blocked) throw seatLimitReached();
}
