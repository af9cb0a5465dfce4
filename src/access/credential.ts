import type { IncomingMessage } from 'node:http';
import { ApiError, unauthorized } from '../core/errors.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Identity } from '../providers/identity/access-token.ts';
import { type IdentityProvider, IdentityUnavailable } from '../providers/identity/identity.ts';
import { claimsToBe, tokenHash } from './token.ts';
import { type Profile, USER_OF_CTES, userCtes } from './user-ctes.ts';
import { looksLikeWidgetToken, type WidgetClaims, type WidgetTokens } from './widget-token.ts';

/** What a request was authenticated with, checked as far as that goes without the database. */
export type Credential =
  | { kind: 'key'; hash: Buffer }
  /** The access token of a session, or the secret that a browser keeps of one. */
  | { kind: 'session'; hash: Buffer }
  | { kind: 'identity'; identity: Identity }
  | { kind: 'widget'; claims: WidgetClaims }
  /** Of an endpoint that takes none: whatever came along was not looked at. */
  | { kind: 'none' };

/** Whom a credential stands for, as a key to count or to remember by; nothing of it is secret. */
export function subjectOf(credential: Credential): string[] {
  switch (credential.kind) {
    case 'key':
    case 'session':
      return [credential.hash.toString('hex')];
    case 'none':
      return [];
    case 'identity':
      return [credential.identity.issuer, credential.identity.subject];
    case 'widget':
      return [credential.claims.user_id, credential.claims.workspace_id];
  }
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

/** Tokens of ours, which no issuer is asked about. */
const OWN_KINDS = ['key', 'access', 'refresh', 'browser'] as const;

export interface CredentialReader {
  /** 401 for anything but a key, a session's or an issuer's access token, or a widget token, that may be good. */
  read(token: string): Promise<Credential>;
  /** The same for what a browser has in its cookie, which opens nothing as a token. */
  readCookie(token: string): Credential;
}

export function credentialReader(options: {
  query: Query;
  identities: IdentityProvider | undefined;
  widgetTokens: WidgetTokens;
}): CredentialReader {
  const { identities, widgetTokens, query } = options;
  return {
    async read(token) {
      const key = tokenHash('key', token);
      if (key) return { kind: 'key', hash: key };
      const access = tokenHash('access', token);
      if (access) return { kind: 'session', hash: access };
      if (OWN_KINDS.some((kind) => claimsToBe(kind, token))) throw unauthorized();
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
    readCookie(token) {
      const hash = tokenHash('browser', token);
      if (!hash) throw unauthorized();
      return { kind: 'session', hash };
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
export async function ensureUser(query: Query, profile: Profile): Promise<string> {
  const { known, made, new_user, changed, user_audit } = userCtes(profile);
  const upsert = sql`
    with known as (${known}), made as (${made}), new_user as (${new_user}), changed as (${changed}),
    user_audit as (${user_audit})
    ${USER_OF_CTES}`;
  // Whoever lost the race to make the user finds it on the second look.
  const [row] = await query<{ user_id: string }>(upsert);
  const [found] = row ? [row] : await query<{ user_id: string }>(upsert);
  if (!found) throw new Error('a user was neither found nor made');
  return found.user_id;
}
