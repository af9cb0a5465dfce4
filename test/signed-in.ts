import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { sha256 } from '../src/core/secrets.ts';
import { sql } from '../src/db/sql.ts';
import type { Tokens } from '../src/session/schema.ts';
import { until } from './until.ts';
import type { Client, World } from './world.ts';

export interface SignedIn extends Client {
  tokens: Tokens;
}

/** The secret of a valid sign-in link for the address of this user. */
export async function signInLink(world: World, user_id: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await endSignInMail(world, user_id);
  await world.db.query(sql`
    insert into sign_in_links (email, token_hash, expires_at, sent_at)
    select subject, ${sha256(secret)}::bytea, now() + interval '15 minutes', '{}' from identities
    where user_id = ${user_id} and issuer = 'ibid'
    on conflict (email) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at`);
  return secret;
}

/** A message that is about to be sent would replace the secret of the link. */
async function endSignInMail({ db }: World, user_id: string): Promise<void> {
  const ofUser = sql`name = 'send-sign-in-mail' and key in (
    select subject from identities where user_id = ${user_id} and issuer = 'ibid')`;
  await db.query(sql`delete from background_jobs where status = 'queued' and ${ofUser}`);
  await until(
    'no sign-in link is being sent',
    () => db.query(sql`select attempt from background_jobs where status = 'running' and ${ofUser}`),
    (jobs) => jobs.length === 0,
  );
}

/** A new session of a user whom this service knows by address, created by a link in their mail. */
export async function signedInClient(
  world: World,
  user_id: string,
  headers: Record<string, string> = {},
): Promise<SignedIn> {
  const token = await signInLink(world, user_id);
  const answer = await world.anonymous.post('/v1/auth/email/complete', { token }, headers);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return { ...world.as(answer.body.access_token, user_id), tokens: answer.body };
}
