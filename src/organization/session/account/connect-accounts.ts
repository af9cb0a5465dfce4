import { Type } from 'typebox';
import { signedIn } from '../../../platform/access/access-rule.ts';
import { ApiError } from '../../../platform/core/errors.ts';
import { Id, InputText, Record } from '../../../platform/core/records.ts';
import { sha256 } from '../../../platform/core/secrets.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';

/**
 * Merges two accounts of the same address. Both are proved: one by the session and the address that its issuer
 * verified, the other by a link emailed to this address. The issuer's claim alone gives no access to an account.
 */
export const connectAccounts = endpoint({
  method: 'POST',
  path: '/v1/me/connection',
  summary: 'Connect accounts',
  description:
    "Merges the caller's account with the account that signs in by e-mail with the caller's verified address. Takes the secret of a sign-in link to that address (`POST /v1/auth/email`). The account that has written pages is kept, otherwise the caller's. All other sessions, and the personal keys and password of the account that is not kept, end.",
  access: signedIn({ session: true }),
  // The caller may be another user afterwards.
  idempotent: false,
  event: 'user.merged',
  body: Type.Object({ token: InputText({ description: 'The secret of the link.' }) }),
  reply: Record({ user_id: Id }, { title: 'ConnectedAccount' }),
  errors: ['not_found', 'forbidden', 'conflict'],
  example: { body: { token: 'kZ0…' }, reply: { user_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6t2' } },
  run: ({ body, transaction }) =>
    transaction(async (tx) => {
      const { outcome, user_id } = await tx.one<{ outcome: string; user_id: string }>({
        connected: sql`select c.* from access a, connect_accounts(${sha256(body.token)}, a.credential_id) c`,
        before: sql`select a.user_id, ''::text as merged_user_id from access a`,
        after: sql`select kept as user_id, merged as merged_user_id from connected where outcome = ''`,
        result: sql`select outcome, kept as user_id from connected`,
      });
      if (outcome !== '') throw refusalOf(outcome);
      return { user_id };
    }),
});

function refusalOf(outcome: string): ApiError {
  if (outcome === 'address') {
    return new ApiError('forbidden', 'The link is for another address than your verified one.');
  }
  if (outcome === 'none') {
    return new ApiError('conflict', 'No other account signs in by mail to this address.');
  }
  if (outcome === 'has_written') {
    return new ApiError(
      'conflict',
      'Both accounts have written pages or uploaded files, and authorship cannot change. Use one of them, and ask the owners of missing workspaces to invite it.',
    );
  }
  if (outcome === 'both_members') {
    return new ApiError(
      'conflict',
      'Both accounts are members of one workspace. Ask an owner there to remove one of them, then connect them again.',
    );
  }
  // Not 401, because the caller is signed in.
  return new ApiError('not_found', 'This sign-in link has expired or was already used. Request a new one.');
}
