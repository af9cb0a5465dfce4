import type { IncomingMessage } from 'node:http';
import { ApiError, unauthorized } from '../core/errors.ts';
import type { Query } from '../db/db.ts';
import { sql } from '../db/sql.ts';
import type { Identity } from '../providers/identity/access-token.ts';
import { type IdentityProvider, IdentityUnavailable } from '../providers/identity/identity.ts';
import { hasTokenPrefix, tokenHash } from './token.ts';
import { type Profile, USER_OF_CTES, userCtes } from './user-ctes.ts';
import { looksLikeWidgetToken, type WidgetClaims, type WidgetTokens } from './widget-token.ts';

/** What a request was authenticated with, checked as far as possible without the database. */
export type Credential =
  | { kind: 'key'; hash: Buffer }
  /** The access token of a session, or the secret in a browser's cookie. */
  | { kind: 'session'; hash: Buffer }
  | { kind: 'identity'; identity: Identity }
  | { kind: 'widget'; claims: WidgetClaims }
  /** An operator's command for a user; no request brings it. */
  | { kind: 'command'; user_id: string }
  /** For endpoints that take no credential: a credential that was sent is ignored. */
  | { kind: 'none' };

/** The subject of a credential as a key for counters and caches; it holds no secret. */
export function subjectOf(credential: Credential): string[] {
  switch (credential.kind) {
    case 'key':
    case 'session':
      return [credential.hash.toString('hex')];
    case 'none':
      return [];
    case 'command':
      return [credential.user_id];
    case 'identity':
      return [credential.identity.issuer, credential.identity.subject];
    case 'widget':
      return [credential.claims.user_id, credential.claims.workspace_id];
  }
}

/** The token of exactly one header of the form `Bearer <token>` (the scheme in any case), or undefined. */
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

/** Tokens of this service, which are never sent to the issuer. */
const OWN_KINDS = ['key', 'access', 'refresh', 'browser'] as const;

export interface CredentialReader {
  /** Reads a key, an access token of a session or an issuer, or a widget token. Errors: 401 for anything else. */
  read(token: string): Promise<Credential>;
  /** Reads the secret of a browser's cookie, which is not accepted as a bearer token. */
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
      if (OWN_KINDS.some((kind) => hasTokenPrefix(kind, token))) throw unauthorized();
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

/** Identities whose user this process has stored; the provider returns the same object for the same token. */
const remembered = new WeakMap<Query, WeakSet<Identity>>();

/**
 * Creates the user of a token that is seen for the first time, or updates e-mail and name from the claims. When several
 * first requests come at once, the unique key of identities lets one create the user.
 */
async function rememberUser(query: Query, identity: Identity): Promise<void> {
  let seen = remembered.get(query);
  if (!seen) remembered.set(query, (seen = new WeakSet()));
  if (seen.has(identity)) return;
  await ensureUser(query, identity);
  seen.add(identity);
}

/** Finds or creates the user of (issuer, subject), as one statement with its audit record. Returns the user's id. */
export async function ensureUser(query: Query, profile: Profile): Promise<string> {
  const { known, made, new_user, changed, user_audit } = userCtes(profile);
  const upsert = sql`
    with known as (${known}), made as (${made}), new_user as (${new_user}), changed as (${changed}),
    user_audit as (${user_audit})
    ${USER_OF_CTES}`;
  // A request that lost the race to create the user finds it on the second try.
  const [row] = await query<{ user_id: string }>(upsert);
  const [found] = row ? [row] : await query<{ user_id: string }>(upsert);
  if (!found) throw new Error('a user was neither found nor created');
  return found.user_id;
}
