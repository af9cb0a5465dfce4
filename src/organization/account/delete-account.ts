import { Type } from 'typebox';
import { signedIn } from '../../platform/access/access-rule.ts';
import type { Statements } from '../../platform/access/guard.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { InputText } from '../../platform/core/records.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { type AccountWorkspace, refuseDeletion } from './refuse-deletion.ts';

/** Maximum age of a session that deletes an account, so that a browser left open cannot be used for it. */
const RECENT_MINUTES = 15;

/**
 * Locks the user row, so that one of several concurrent requests deletes the user. Concurrent inserts of rows that
 * belong to the user fail by their foreign key. See docs/decisions/029-retention.md.
 */
export const deleteAccount = endpoint({
  method: 'POST',
  path: '/v1/me/deletion',
  summary: "Delete the caller's account",
  description:
    `Permanent; requires a sign-in within the last ${RECENT_MINUTES} minutes. The caller's name, address, sessions, keys and everything else that belongs only to them are erased at once. Pages, their revisions and audit records stay, without a name. ` +
    '409 if the caller is the only owner of a workspace with other members (`last_owner`), if a workspace with no other member has wikis (`workspace_not_empty`) or a paid plan (`conflict`), or if a workspace that they are or were a member of is under a legal hold (`legal_hold`).',
  access: signedIn({ session: true }),
  // The caller no longer exists, so no response could be replayed to them.
  idempotent: false,
  event: 'user.deleted',
  body: Type.Object({ email: InputText({ description: "The address of the caller's account, as confirmation." }) }),
  status: 204,
  reply: Type.Null(),
  errors: [
    ...['forbidden', 'recent_sign_in_required', 'invalid_email'],
    ...['last_owner', 'workspace_not_empty', 'conflict', 'legal_hold'],
  ],
  example: { body: { email: 'ada@example.com' }, reply: null },
  run: ({ body, transaction }) =>
    transaction(async (tx) => {
      await requireConfirmation(tx, body.email);
      await deleteCaller(tx);
      return null;
    }),
});

/** Deletes the caller, under the locks that `account_workspaces` takes. Throws 409, see `refuseDeletion`. */
export async function deleteCaller(tx: Statements): Promise<void> {
  const workspaces = await tx.maybeOne<{ rows: AccountWorkspace[] }>(sql`
    select coalesce(json_agg(w), '[]') as rows from access a, account_workspaces() w`);
  const memberships = refuseDeletion(workspaces?.rows ?? []);
  const emptied: string[] = [];
  for (const { workspace_id, membership_id, other_members } of memberships) {
    await leave(tx, membership_id);
    if (other_members > 0) continue;
    emptied.push(workspace_id);
    await tx.one(sql`select ${workspace_id}::text as workspace_id from access`, 'workspace.deleted');
  }
  await tx.one({
    erased: sql`select a.user_id, erase_account(${emptied}::text[]) as is_erased from access a`,
    before: sql`select user_id from erased where is_erased`,
    result: raw('select from before'),
  });
}

/** Throws 403 `recent_sign_in_required`; 400 if the address is not the caller's. */
async function requireConfirmation(tx: Statements, email: string): Promise<void> {
  const caller = await tx.maybeOne<{ email: string; is_recent: boolean }>(sql`
    select u.email, s.created_at > now() - make_interval(mins => ${RECENT_MINUTES}::int) as is_recent
    from access a join users u on u.user_id = a.user_id join sessions s on s.session_id = a.credential_id`);
  if (!caller?.is_recent) {
    throw new ApiError(
      'recent_sign_in_required',
      `To delete an account, sign in again, then retry within ${RECENT_MINUTES} minutes.`,
    );
  }
  if (email.trim().toLowerCase() !== caller.email.toLowerCase()) {
    throw new ApiError('invalid_email', 'This is not the address of your account. Nothing was deleted.');
  }
}

/** Removes a membership. The audit record identifies the person by id only. */
async function leave(tx: Statements, membership_id: string): Promise<void> {
  await tx.one(
    {
      removed: sql`
        delete from memberships m using access a where m.membership_id = ${membership_id} and m.user_id = a.user_id
        returning m.*`,
      before: sql`select m.membership_id, m.workspace_id, m.user_id, m.role, m.status from removed m`,
      result: sql`select m.workspace_id from removed m`,
    },
    'organization_membership.deleted',
  );
}
