import { type Static, Type } from 'typebox';
import { seatLimitReached } from '../../platform/core/errors.ts';
import { Flag, Record } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { Payments, Plan } from '../../platform/providers/payments/payments.ts';

export const Seats = Record(
  {
    active: Type.Integer({ description: 'Active memberships.' }),
    used: Type.Integer({ description: 'Active memberships and pending invitations.' }),
    granted: Type.Integer({ description: 'Seats granted by the plan; 0 if they are unlimited.' }),
    blocked: Type.Boolean({ default: false, description: 'Whether no more members can be invited.' }),
    overage_allowed: Flag,
    pending: Type.Integer({ default: 0, description: 'Pending invitations.' }),
    unlimited: Flag,
  },
  { title: 'Seats' },
);
export type Seats = Static<typeof Seats>;

export interface SeatCounts {
  active: number;
  pending: number;
  granted: number;
  unlimited: boolean;
  overage_allowed: boolean;
}

/**
 * Columns of SeatCounts, from the workspace `w`. Triggers maintain the number of members; an expired invitation takes
 * no seat.
 */
export const seatColumns: Sql = raw(`
  w.active_members as active,
  (select count(*)::int from invitations s where s.workspace_id = w.workspace_id and s.state = 'pending'
    and s.expires_at > now()) as pending,
  w.seats_granted as granted, w.seats_unlimited as unlimited, w.seats_overage as overage_allowed`);

/** Seats granted by a plan, as columns of a workspace. Without a plan, seats are unlimited. */
export interface SeatGrant {
  seats_granted: number;
  seats_unlimited: boolean;
  seats_overage: boolean;
}

export function seatsOfPlan(plan: Plan | undefined, quantity = 0): SeatGrant {
  return {
    seats_granted: Math.max(plan?.seats ?? 0, quantity),
    seats_unlimited: plan?.unlimited ?? true,
    seats_overage: plan?.overage_allowed ?? false,
  };
}

/** Sets the seats of a workspace. Members above the limit stay. */
export function grantSeats(workspace_id: string, { seats_granted, seats_unlimited, seats_overage }: SeatGrant): Sql {
  return sql`
    update workspaces set seats_granted = ${seats_granted}::int, seats_unlimited = ${seats_unlimited},
      seats_overage = ${seats_overage}
    where workspace_id = ${workspace_id}`;
}

/**
 * Returns the plan of a workspace without a subscription: the first free plan of the catalogue if plans are paid
 * online, otherwise undefined.
 */
export function unpaidPlan({ payments, plans }: { payments: Payments; plans: readonly Plan[] }): Plan | undefined {
  return payments.provider && plans.find(({ checkout }) => checkout === 'none');
}

/** Converts the counts to the record of the API. */
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

/** Throws 409 `seat_limit_reached` if no further member can join. Call it under the lock on the workspace. */
export function refuseWithoutSeat(counts: SeatCounts): void {
  if (seatsOf(counts).blocked) throw seatLimitReached();
}
