import type { Statements } from '../../access/guard.ts';
import { networkOf } from '../../access/network.ts';
import { rateLimited } from '../../core/errors.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';

/** From the fifth guess in a row on there is a wait behind each: 15 seconds, doubled each time, up to a quarter of an hour. */
const FREE_GUESSES = 5;
/** The guesses before this one; long after the last wait it is the first one again. */
const BEFORE = raw(`case when g.locked_until < now() - interval '1 hour' then 0 else g.guesses end`);
const WAIT = sql`case when ${BEFORE} + 1 < ${raw(String(FREE_GUESSES))} then interval '0'
  else least(15 * power(2, least(${BEFORE} + 1 - ${raw(String(FREE_GUESSES))}, 20)), 900) * interval '1 second' end`;

interface Guess {
  email: string;
  /** The network address that the guess comes from. */
  address: string;
}

/**
 * Counts a guess before it is judged, so that of many at once no more are judged than one after the other would be.
 * Errors: 429 `rate_limited`, the same whether or not the address has a password. The count is forgotten by
 * `forgetGuesses`, or an hour after its wait.
 */
export async function countGuess(on: Statements, { email, address }: Guess): Promise<void> {
  const from = networkOf(address);
  const row = await on.maybeOne<{ counted: boolean; wait: number }>({
    forgotten: sql`
      delete from password_guesses where (email, address) in (
        select email, address from password_guesses where locked_until < now() - interval '1 hour'
          and (email, address) <> (${email}, ${from}) order by locked_until limit 100 for update skip locked)`,
    counted: sql`
      insert into password_guesses as g (email, address, guesses, locked_until)
      values (${email}, ${from}, 1, now())
      on conflict (email, address) do update set
        guesses = ${BEFORE} + 1, locked_until = now() + ${WAIT}
      where g.locked_until <= now()
      returning 1`,
    result: sql`
      select exists (select from counted) as counted, coalesce((
        select ceil(extract(epoch from locked_until - now())) from password_guesses
        where email = ${email} and address = ${from}), 1)::int as wait`,
  });
  if (row?.counted) return;
  throw rateLimited(Math.max(1, row?.wait ?? 1), 'guesses');
}

/** The step of a statement that puts the count back, because the password was right. */
export function forgetGuesses({ email, address }: Guess): Sql {
  return sql`delete from password_guesses where email = ${email} and address = ${networkOf(address)}`;
}
