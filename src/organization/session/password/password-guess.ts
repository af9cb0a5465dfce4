import type { Statements } from '../../../platform/access/guard.ts';
import { countCte } from '../../../platform/access/limits/limit-counts.ts';
import { networkOf } from '../../../platform/access/network.ts';
import { rateLimited } from '../../../platform/core/errors.ts';
import { raw, type Sql, sql } from '../../../platform/db/sql.ts';
import { placeOf } from '../known-network.ts';

/** From this guess in a row on there is a wait behind each: 15 seconds, doubled each time, up to a quarter of an hour. */
const FREE_GUESSES = 5;
/** The same for guesses from all networks together that the user has no session from. */
const FREE_GUESSES_OF_STRANGERS = 20;
/** The user is told of this many guesses in a row, once a day. */
const WARN_GUESSES = 20;
const WARNING = { quota: 1, windowSeconds: 86_400 };
/** The row of all such networks. */
const STRANGERS = '*';

/** The guesses before this one; long after the last wait it is the first one again. */
const BEFORE = raw(`case when g.locked_until < now() - interval '1 hour' then 0 else g.guesses end`);

interface Guess {
  email: string;
  /** The network address that the guess comes from. */
  address: string;
  /** The hash of the device's secret, if it sent one. */
  device?: Buffer | undefined;
}

/** A guess that may be judged. */
export interface CountedGuess {
  email: string;
  counted_for: string;
}

/**
 * Counts a guess before it is judged, so that of many at once no more are judged than one after the other would be: by
 * network or known device, and for networks that the user has no session from also together, so that many of them have no more. The
 * same is written for every address. `warn`: the CTE that tells the user of many guesses, for each row of `from`. Errors: 429 `rate_limited`, the same whether or not
 * the address has a password. Answers the row that `deleteGuesses` deletes; all go an hour after their wait.
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
 * The end of the insertion of a guess `g`: one more in a row, with a wait behind it, unless the last wait lasts. By the
 * clock, because a statement that waited for the row began before the guess that it waited for.
 */
function countAgain(free: number): Sql {
  return sql`
    on conflict (email, address) do update set guesses = ${BEFORE} + 1, locked_until = clock_timestamp() +
      case when ${BEFORE} + 1 < ${free}::int then interval '0'
        else least(15 * power(2, least(${BEFORE} + 1 - ${free}::int, 20)), 900) * interval '1 second' end
    where g.locked_until <= clock_timestamp()
    returning guesses`;
}

/** The CTE of a statement that deletes the count of the network or device, because the password was right. */
export function deleteGuesses({ email, counted_for }: CountedGuess): Sql {
  return sql`delete from password_guesses where email = ${email} and address = ${counted_for}`;
}
