import type { Statements } from '../../../platform/access/guard.ts';
import { countCte } from '../../../platform/access/limits/limit-counts.ts';
import { networkOf } from '../../../platform/access/network.ts';
import { rateLimited } from '../../../platform/core/errors.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import { placeOf } from '../known-network.ts';

/**
 * From this consecutive guess on, each guess is followed by a wait: 15 seconds, doubled each time, up to 15 minutes.
 */
const FREE_GUESSES = 5;
/** The same limit for guesses from all unknown networks together (networks without a session of the user). */
const FREE_GUESSES_OF_STRANGERS = 20;
/** Number of consecutive guesses after which the user is warned, at most once a day. */
const WARN_GUESSES = 20;
const WARNING = { quota: 1, windowSeconds: 86_400 };
/** Key of the row shared by all unknown networks. */
const STRANGERS = '*';

/** Number of previous guesses; reset an hour after the last wait ends. */
const BEFORE = raw(`case when g.locked_until < now() - interval '1 hour' then 0 else g.guesses end`);

interface Guess {
  email: string;
  /** Network address of the client. */
  address: string;
  /** Hash of the device's secret, if the client sent one. */
  device?: Buffer | undefined;
}

/** A guess that may be checked. */
export interface CountedGuess {
  email: string;
  counted_for: string;
}

/**
 * Counts a guess before checking it, so that concurrent guesses have the same limit as sequential ones. Counts by
 * network or known device; guesses from unknown networks also count together, so that a distributed attack gets no more
 * guesses. Writes the same rows for every address. `warn` returns the CTE that warns the user, for each row of `from`.
 * Throws 429 `rate_limited`, whether or not the address has a password. Returns the row for `deleteGuesses`; rows
 * expire an hour after their wait.
 */
export async function countGuess(
  on: Statements,
  { email, address, device }: Guess,
  warn: (from: Sql) => Sql = (from) => sql`select from ${from}`,
): Promise<CountedGuess> {
  const row = await on.maybeOne<{ address: string; counted: boolean; wait: number }>({
    place: placeOf(email, networkOf(address), device),
    deleted: sql`
      delete from password_guesses where (email, address) in (
        select email, address from password_guesses where locked_until < now() - interval '1 hour'
          and email <> ${email} order by locked_until limit 100 for update skip locked)`,
    locked: sql`
      select max(g.locked_until) as until from password_guesses g, place
      where g.email = ${email} and g.address = ${STRANGERS} and not place.known`,
    by_place: sql`
      insert into password_guesses as g (email, address, guesses, locked_until)
      select ${email}, place.address, 1, now() from locked, place where until is null or until <= clock_timestamp()
      ${countAgain(FREE_GUESSES)}`,
    of_strangers: sql`
      insert into password_guesses as g (email, address, guesses, locked_until)
      select ${email}, ${STRANGERS}, 1, now() from by_place, place where not known
      ${countAgain(FREE_GUESSES_OF_STRANGERS)}`,
    many: sql`select from (table by_place union all table of_strangers) g where g.guesses >= ${WARN_GUESSES}::int`,
    warned: countCte(`guess warning ${email}`, WARNING, raw('many')),
    warning: warn(raw('warned')),
    result: sql`
      select place.address, exists (select from by_place) and (known or exists (select from of_strangers)) as counted,
        ceil(extract(epoch from greatest(
          (select until from locked),
          (select g.locked_until from password_guesses g where g.email = ${email} and g.address = place.address)) - now()))::int
          as wait
      from place`,
  });
  if (row?.counted) return { email, counted_for: row.address };
  throw rateLimited(Math.max(1, row?.wait ?? 1), 'guesses');
}

/**
 * Ends the insert of a guess `g`: increments the count and sets the next wait, unless a wait is in progress. Uses
 * clock_timestamp(), because now() is from before the statement waited for the row.
 */
function countAgain(free: number): Sql {
  return sql`
    on conflict (email, address) do update set guesses = ${BEFORE} + 1, locked_until = clock_timestamp() +
      case when ${BEFORE} + 1 < ${free}::int then interval '0'
        else least(15 * power(2, least(${BEFORE} + 1 - ${free}::int, 20)), 900) * interval '1 second' end
    where g.locked_until <= clock_timestamp()
    returning guesses`;
}

/** Returns a CTE that deletes the count of the network or device after a correct password. */
export function deleteGuesses({ email, counted_for }: CountedGuess): Sql {
  return sql`delete from password_guesses where email = ${email} and address = ${counted_for}`;
}
