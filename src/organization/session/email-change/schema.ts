import type { Statements } from '../../../platform/access/guard.ts';
import { OWN_ISSUER } from '../../../platform/access/user-ctes.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import type { EmailChange } from '../schema.ts';

/** Hours until the links of a request expire. */
export const CHANGE_HOURS = 24;

/** Columns of EmailChange, from `email_changes c`. */
export const emailChangeColumns: Sql = sql`
  c.new_email as email, c.old_confirmed_at is not null as old_confirmed, c.new_confirmed_at is not null as new_confirmed, c.expires_at`;

export const exampleEmailChange: EmailChange = {
  email: 'ada@example.org',
  old_confirmed: false,
  new_confirmed: false,
  expires_at: '2026-11-22T05:29:32.104Z',
};

/** Condition that user `u` signs in at an issuer, which sets their address at each sign-in. */
export const signsInElsewhere: Sql = sql`
  exists (select from identities i where i.user_id = u.user_id and i.issuer <> ${OWN_ISSUER})`;

export function addressIsElsewhere(): ApiError {
  return new ApiError('forbidden', 'You sign in at another service: change your address there.');
}

/**
 * Changes the verified address of a user, in a transaction with an audit record, and ends their sessions except
 * `session_id`. The caller must have proof that the user owns the address. Throws 409 `conflict` if another account has
 * the address, 403 `forbidden` if an issuer sets the user's address.
 */
export async function changeEmail(
  tx: Statements,
  user_id: string,
  email: string,
  session_id: string | null,
): Promise<void> {
  const [done] = await tx.many({
    changed: sql`select change_email(${user_id}, ${email}, ${session_id}) as verdict from access`,
    before: sql`
      select u.user_id, u.email, u.email_verified from changed c join users u on u.user_id = ${user_id} where c.verdict = 'changed'`,
    after: sql`select b.user_id, ${email}::text as email, true as email_verified from before b`,
    result: sql`select user_id from after`,
  });
  if (done) return;
  const elsewhere = await tx.maybeOne(sql`select from users u where u.user_id = ${user_id} and ${signsInElsewhere}`);
  if (elsewhere) throw addressIsElsewhere();
  throw new ApiError('conflict', 'Another account has this address. Nothing was changed.');
}
