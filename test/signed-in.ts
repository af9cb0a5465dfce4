import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Tokens } from '../src/organization/session/schema.ts';
import { newId } from '../src/platform/core/ids.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Client, World } from './world.ts';

export interface SignedIn extends Client {
  tokens: Tokens;
}

/** Creates a valid sign-in link for the address of this user, and returns its secret. */
export async function signInLink(world: World, user_id: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await world.db.query(sql`
    insert into email_links (link_id, email, network, token_hash, expires_at)
    select ${newId('link')}, subject, '', ${sha256(secret)}::bytea, now() + interval '15 minutes' from identities
    where user_id = ${user_id} and issuer = 'ibid' limit 1`);
  return secret;
}

/** Creates a new session by a sign-in link, for a user with an address at this service. */
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
