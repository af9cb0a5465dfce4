import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import { type Identity, type IdentityProvider, IdentityUnavailable } from '../providers/identity.ts';
import { changedFields } from './audit-record.ts';
import { ApiError, unauthorized } from './errors.ts';
import { newId } from './ids.ts';
import { sha256 } from './secrets.ts';
import { looksLikeWidgetToken, type WidgetClaims, type WidgetTokens } from './widget-token.ts';

/** What a request was authenticated with, checked as far as that goes without the database. */
export type Credential =
  | { kind: 'key'; hash: Buffer }
  | { kind: 'identity'; identity: Identity }
  | { kind: 'widget'; claims: WidgetClaims };

/** Whom a credential stands for, as a key to count or to remember by; nothing of it is secret. */
export function subjectOf(credential: Credential): string[] {
  switch (credential.kind) {
    case 'key':
      return [credential.hash.toString('hex')];
    case 'identity':
      return [credential.identity.issuer, credential.identity.subject];
    case 'widget':
      return [credential.claims.user_id, credential.claims.workspace_id];
  }
}

const KEY_PREFIX = 'ibid_live_';
const KEY_FORM = /^ibid_live_([0-9A-Za-z]{28})([0-9a-z]{7})$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * A new API key: `ibid_live_`, 28 base62 characters (166 random bits) and a checksum, so that a typo is refused without
 * asking the database. Only `hash` is stored; `obfuscated` is what lists show.
 */
export function newApiKey(): { secret: string; hash: Buffer; obfuscated: string } {
  let random = '';
  // 248 = 4 × 62: bytes above are drawn again, so that every character is equally likely.
  while (random.length < 28) for (const byte of randomBytes(40)) if (byte < 248) random += BASE62[byte % 62];
  random = random.slice(0, 28);
  const secret = `${KEY_PREFIX}${random}${checksum(random)}`;
  return { secret, hash: sha256(secret), obfuscated: `${KEY_PREFIX}…${secret.slice(-4)}` };
}

function checksum(random: string): string {
  return crc32(random).toString(36).padStart(7, '0');
}

/** Exactly one header of exactly the form `Bearer <token>` (the scheme in any case), or undefined. */
export function bearerToken(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > 16_384) return undefined;
  let headers = 0;
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    if (request.rawHeaders[i]?.toLowerCase() === 'authorization') headers += 1;
  }
  if (headers !== 1) return undefined;
  return /^bearer ([\x21-\x7e]+)$/i.exec(header)?.[1];
}

export interface CredentialReader {
  /** 401 for anything but a key, an issuer's token or a widget token that may be good. */
  read(token: string): Promise<Credential>;
}

export function credentialReader(options: {
  query: Query;
  identities: IdentityProvider | undefined;
  widgetTokens: WidgetTokens;
}): CredentialReader {
  const { identities, widgetTokens, query } = options;
  return {
    async read(token) {
      const key = KEY_FORM.exec(token);
      if (key) {
        if (checksum(key[1] ?? '') !== key[2]) throw unauthorized();
        return { kind: 'key', hash: sha256(token) };
      }
      if (looksLikeWidgetToken(token)) {
        const claims = await widgetTokens.verify(token);
        if (!claims) throw unauthorized();
        return { kind: 'widget', claims };
      }
      const identity = await verifyIdentity(identities, token);
      if (!identity) throw unauthorized();
      await rememberUser(query, identity);
      return { kind: 'identity', identity };
    },
  };
}

async function verifyIdentity(identities: IdentityProvider | undefined, token: string): Promise<Identity | null> {
  if (!identities) return null;
  try {
    return await identities.verify(token);
  } catch (cause) {
    if (!(cause instanceof IdentityUnavailable)) throw cause;
    throw new ApiError('identity_unavailable', 'The identity provider does not answer. Try again in a moment.', {
      cause,
    });
  }
}

/** Identities that this process has written down; the provider answers the same object for the same token. */
const remembered = new WeakMap<Query, WeakSet<Identity>>();

/**
 * Makes the user of a token seen for the first time, or brings e-mail and name up to date with the claims. Of several
 * first requests at once the unique key of identities lets one make the user.
 */
async function rememberUser(query: Query, identity: Identity): Promise<void> {
  let seen = remembered.get(query);
  if (!seen) remembered.set(query, (seen = new WeakSet()));
  if (seen.has(identity)) return;
  await ensureUser(query, identity);
  seen.add(identity);
}

/** The user of (issuer, subject), made if new, as one statement with its audit record. Answers the user's id. */
export async function ensureUser(query: Query, identity: Omit<Identity, 'expires_at'>): Promise<string> {
  const { issuer, subject, email, email_verified, display_name, avatar_url } = identity;
  const upsert = sql`
    with known as (
      select user_id, u.email, u.email_verified, u.display_name, u.avatar_url from identities join users u using (user_id)
      where issuer = ${issuer} and subject = ${subject}
    ), made as (
      insert into identities (issuer, subject, user_id) select ${issuer}, ${subject}, ${newId('user')}
      where not exists (select from known)
      on conflict do nothing returning user_id
    ), new_user as (
      insert into users (user_id, email, email_verified, display_name, avatar_url)
      select user_id, ${email}::text, ${email_verified}::boolean, ${display_name}::text, ${avatar_url}::text from made
      returning user_id, email, email_verified, display_name, avatar_url
    ), changed as (
      update users u set email = ${email}, email_verified = ${email_verified}, display_name = ${display_name},
        avatar_url = ${avatar_url}
      from known where u.user_id = known.user_id
        and (u.email, u.email_verified, u.display_name, u.avatar_url)
          is distinct from (${email}::text, ${email_verified}::boolean, ${display_name}::text, ${avatar_url}::text)
      returning u.user_id, u.email, u.email_verified, u.display_name, u.avatar_url
    ), audit as (
      insert into audit_events (event_id, type, target_kind, target_id, actor_id, credential_kind, credential_id, request_id,
        address, before, after)
      select ${newId('evt')}, 'user.' || what, 'user', user_id, user_id, 'identity', ${issuer}, '', '',
        ${changedFields('was', 'became')}, ${changedFields('became', 'was')}
      from (
        select 'created' as what, user_id, '{}'::jsonb as was, to_jsonb(new_user) as became from new_user
        union all
        select 'updated', user_id, to_jsonb(known), to_jsonb(changed) from changed join known using (user_id)
      ) writes
    )
    select user_id from known union all select user_id from new_user`;
  // Whoever lost the race to make the user finds it on the second look.
  const [row] = await query<{ user_id: string }>(upsert);
  const [found] = row ? [row] : await query<{ user_id: string }>(upsert);
  if (!found) throw new Error('a user was neither found nor made');
  return found.user_id;
}
