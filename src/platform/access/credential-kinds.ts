import { ApiError, unauthorized } from '../core/errors.ts';
import type { Query } from '../db/db.ts';
import type { RequestContext } from '../db/request-context.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { Identity } from '../providers/identity/access-token.ts';
import { type IdentityProvider, IdentityUnavailable } from '../providers/identity/identity.ts';
import { hasTokenPrefix, SESSION_IDLE_DAYS, tokenHash } from './token.ts';
import { ensureUser } from './user-ctes.ts';
import { looksLikeWidgetToken, type WidgetClaims, type WidgetTokens } from './widget-token.ts';

export interface ReaderOptions {
  query: Query;
  identities: IdentityProvider | undefined;
  widgetTokens: WidgetTokens;
}

/** A kind of credential. Omitted fields do not apply to it. */
interface CredentialKind<C extends { kind: string }> {
  kind: C['kind'];
  /** Reads a bearer token; returns undefined if it is of another kind. Throws 401 if it is of this kind but invalid. */
  read?(token: string, options: ReaderOptions): C | undefined | Promise<C | undefined>;
  /** Returns a key for counters and caches, without secrets. */
  subject(credential: C): string[];
  /** Returns the context of its user without a path. */
  context(credential: C): RequestContext;
  /** Returns the CTE `caller`: its user, or no row if it is unknown, revoked or expired. */
  caller(credential: C): Sql;
  /** CTEs that record its use, after `caller`. */
  recordUse?: Sql;
  /** Whether it has the rights of a signed-in user. */
  isSession?: true;
  claims?(credential: C): WidgetClaims;
  /** Identifies a program's credential in the request log. */
  inRequestLog?(credential: C): { kind: C['kind'] } & Record<string, string>;
}

/**
 * Joins the user of a credential. The request context already contains the user's id; repeating it here tells the
 * planner that one row matches, so that it never scans all users.
 */
const ownUser = (credential: 'k' | 's' | 'i') =>
  raw(`join users u on u.user_id = ${credential}.user_id and u.user_id = (select own_user())`);

const KEY_USED = raw(`
  update api_keys k set last_used_at = now() from caller c where k.key_id = c.credential_id and not c.used_lately`);

/** Each use extends a browser's session by this time. */
const BROWSER_IDLE_END = `now() + interval '${SESSION_IDLE_DAYS} days'`;

const hashed = ({ hash }: { hash: Buffer }) => [hash.toString('hex')];

const KEY: CredentialKind<{ kind: 'key'; hash: Buffer }> = {
  kind: 'key',
  read(token) {
    if (!hasTokenPrefix('key', token)) return undefined;
    return { kind: 'key', hash: tokenHash('key', token) ?? refuse() };
  },
  subject: hashed,
  context: ({ hash }) => ({ who: 'key', hash }),
  caller: ({ hash }) => sql`
    select k.user_id, k.key_id as credential_id, k.workspace_id as bound_workspace_id, k.permissions as granted,
      u.last_workspace_id, coalesce(k.last_used_at > now() - interval '1 minute', false) as used_lately
    from api_keys k ${ownUser('k')}
    where k.secret_hash = ${hash} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())`,
  recordUse: KEY_USED,
  inRequestLog: ({ kind, hash }) => ({ kind, hash: hash.toString('hex') }),
};

/** The access token of a session, or the secret in a browser's cookie. */
const SESSION: CredentialKind<{ kind: 'session'; hash: Buffer }> = {
  kind: 'session',
  read(token) {
    if (hasTokenPrefix('access', token)) return { kind: 'session', hash: tokenHash('access', token) ?? refuse() };
    // Browser secrets are only accepted in a cookie, and refresh tokens only for a refresh.
    return hasTokenPrefix('browser', token) || hasTokenPrefix('refresh', token) ? refuse() : undefined;
  },
  subject: hashed,
  context: ({ hash }) => ({ who: 'session', hash }),
  caller: ({ hash }) => sql`
    select s.user_id, s.session_id as credential_id, null::text as bound_workspace_id, null::text[] as granted,
      u.last_workspace_id, s.last_used_at > now() - interval '1 minute' as used_lately
    from sessions s ${ownUser('s')}
    where s.access_hash = ${hash} and s.access_expires_at > now() and s.expires_at > now()
      and s.revoked_at is null`,
  recordUse: raw(`
  update sessions s set last_used_at = now(),
    access_expires_at = case when s.in_browser then ${BROWSER_IDLE_END} else s.access_expires_at end
  from caller c where s.session_id = c.credential_id and not c.used_lately`),
  isSession: true,
  inRequestLog: ({ kind, hash }) => ({ kind, hash: hash.toString('hex') }),
};

const WIDGET: CredentialKind<{ kind: 'widget'; claims: WidgetClaims }> = {
  kind: 'widget',
  async read(token, { widgetTokens }) {
    if (!looksLikeWidgetToken(token)) return undefined;
    return { kind: 'widget', claims: (await widgetTokens.verify(token)) ?? refuse() };
  },
  subject: ({ claims }) => [claims.user_id, claims.workspace_id],
  context: ({ claims: { user_id, workspace_id } }) => ({ who: 'widget', user_id, workspace_id }),
  caller: ({ claims }) => sql`
    select u.user_id, coalesce(${claims.issued_by}, 'widget')::text as credential_id,
      ${claims.workspace_id}::text as bound_workspace_id,
      (select k.permissions from api_keys k where k.key_id = ${claims.issued_by}) as granted,
      u.last_workspace_id, true as used_lately
    from users u
    where u.user_id = ${claims.user_id}
      and not exists (
        select from workspace_controls o where o.workspace_id = ${claims.workspace_id}
          and o.widget_tokens_after > to_timestamp(${claims.issued_at}))
      and (${claims.issued_by}::text is null
        or exists (
          select from api_keys k where k.key_id = ${claims.issued_by} and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > now()))
        or exists (
          select from sessions s where s.session_id = ${claims.issued_by} and s.revoked_at is null
            and s.expires_at > now()))`,
  claims: ({ claims }) => claims,
};

/** The token of an issuer. It has no prefix, so it is tried last. */
const IDENTITY: CredentialKind<{ kind: 'identity'; identity: Identity }> = {
  kind: 'identity',
  async read(token, { query, identities }) {
    const identity = await verifyIdentity(identities, token);
    if (!identity) return undefined;
    await rememberUser(query, identity);
    return { kind: 'identity', identity };
  },
  subject: ({ identity }) => [identity.issuer, identity.subject],
  context: ({ identity: { issuer, subject } }) => ({ who: 'identity', issuer, subject }),
  caller: ({ identity }) => sql`
    select i.user_id, i.issuer as credential_id, null::text as bound_workspace_id, null::text[] as granted,
      u.last_workspace_id, true as used_lately
    from identities i ${ownUser('i')}
    where i.issuer = ${identity.issuer} and i.subject = ${identity.subject}`,
  recordUse: KEY_USED,
  inRequestLog: ({ kind, identity: { issuer, subject } }) => ({ kind, issuer, subject }),
};

/** An operator's command on behalf of a user; no request can carry it. */
const COMMAND: CredentialKind<{ kind: 'command'; user_id: string }> = {
  kind: 'command',
  subject: ({ user_id }) => [user_id],
  context: ({ user_id }) => ({ who: 'command', user_id }),
  caller: ({ user_id }) => sql`
    select u.user_id, 'command'::text as credential_id, null::text as bound_workspace_id, null::text[] as granted,
      u.last_workspace_id, true as used_lately
    from users u where u.user_id = ${user_id}`,
  isSession: true,
};

/** For endpoints without authentication, which ignore credentials. */
const NONE: CredentialKind<{ kind: 'none' }> = {
  kind: 'none',
  subject: () => [],
  context: () => ({ who: 'service' }),
  caller: () =>
    raw(`
    select null::text as user_id, null::text as credential_id, null::text as bound_workspace_id,
      null::text[] as granted, null::text as last_workspace_id, true as used_lately`),
};

/** All kinds, in the order in which they are tried for a token. */
export const CREDENTIALS = [KEY, SESSION, WIDGET, IDENTITY, COMMAND, NONE] as const;

type CredentialOf<Kind> = Kind extends CredentialKind<infer C> ? C : never;

/** The credential of a request, checked as far as possible without the database. */
export type Credential = CredentialOf<(typeof CREDENTIALS)[number]>;

const KINDS = new Map<string, CredentialKind<Credential>>(
  CREDENTIALS.map((kind) => [kind.kind, kind as CredentialKind<Credential>]),
);

export function kindOf({ kind }: Credential): CredentialKind<Credential> {
  return KINDS.get(kind) as CredentialKind<Credential>;
}

/** Returns the claims of a widget token; undefined for other credentials. */
export function claimsOf(credential: Credential | undefined): WidgetClaims | undefined {
  return credential && kindOf(credential).claims?.(credential);
}

function refuse(): never {
  throw unauthorized();
}

async function verifyIdentity(identities: IdentityProvider | undefined, token: string): Promise<Identity | null> {
  if (!identities) return null;
  try {
    return await identities.verify(token);
  } catch (cause) {
    if (!(cause instanceof IdentityUnavailable)) throw cause;
    throw new ApiError('identity_unavailable', 'The identity provider is not responding. Try again in a moment.', {
      cause,
    });
  }
}

/** Identities whose user this process has stored; the provider returns the same object for the same token. */
const remembered = new WeakMap<Query, WeakSet<Identity>>();

/**
 * Creates the user of a new token, or updates email and name from its claims. If several first requests arrive
 * concurrently, the unique key of identities lets one create the user.
 */
async function rememberUser(query: Query, identity: Identity): Promise<void> {
  let seen = remembered.get(query);
  if (!seen) remembered.set(query, (seen = new WeakSet()));
  if (seen.has(identity)) return;
  await ensureUser(query, identity);
  seen.add(identity);
}
