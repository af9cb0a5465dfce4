import { createHash, sign as signBytes } from 'node:crypto';
import { type Permission, ROLES, type RoleSlug, WIDGETS, type Widget } from '../src/platform/access/roles.ts';
import { newToken } from '../src/platform/access/token.ts';
import { newId } from '../src/platform/core/ids.ts';
import { sql } from '../src/platform/db/sql.ts';
import { AUDIENCE, privateKeys } from './openid-provider.ts';
import type { Actor, Tenants } from './tenants.ts';

/** An actor of the matrix and its letter in matrix.txt. Capital letters are active members. */
export interface MatrixActor extends Actor {
  letter: string;
  role?: RoleSlug;
}

/** Creates the callers: a member in each role, and former, invited and unrelated users. */
export async function makeActors({ world, roles, stranger, inactive, a }: Tenants): Promise<MatrixActor[]> {
  const person = async (name: string): Promise<Actor> => {
    const { user_id, token } = await world.person();
    return { name, user_id, token: String(token) };
  };
  const removed = await person('removed');
  const invited = await person('invited');
  const { db } = world;
  const membership_id = newId('mem');
  await db.query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    values (${membership_id}, ${a.workspace_id}, ${removed.user_id}, 'owner')`);
  await db.query(sql`delete from memberships where membership_id = ${membership_id}`);
  await db.query(sql`
    insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
    select ${newId('inv')}, ${a.workspace_id}, email, 'owner', ${createHash('sha256').update(invited.user_id).digest()},
      ${roles.owner.user_id}, now() + interval '1 day'
    from users where user_id = ${invited.user_id}`);
  return [
    ...ROLES.map(({ slug }) => ({ ...roles[slug], role: slug, letter: slug.charAt(0).toUpperCase() })),
    { ...stranger, letter: 's' },
    { ...removed, letter: 'r' },
    { ...invited, letter: 'i' },
    { ...inactive, name: 'deactivated', letter: 'd' },
  ];
}

/** A kind of credential. `permission` is the permission that the endpoint requires. */
export interface CredentialKind {
  name: string;
  /** How many combinations to try: valid credentials for every target, the others with one actor and two targets. */
  live: 'everywhere' | 'at home' | 'dead';
  make(actor: MatrixActor, permission: Permission | '', workspace_id: string): Promise<string>;
}

const ALL: readonly Permission[] = ROLES[0]?.permissions ?? [];

export function credentialKinds(tenants: Tenants): CredentialKind[] {
  const { key, widgetToken, a, elsewhere } = tenants;
  const identity = (actor: Actor, seconds: number) => identityToken(tenants, actor, seconds);
  return [
    { name: 'personal key', live: 'everywhere', make: async ({ token }) => token },
    { name: 'session', live: 'everywhere', make: (actor) => session(tenants, actor, 'live') },
    { name: 'identity token', live: 'everywhere', make: (actor) => identity(actor, 3_600) },
    {
      name: 'workspace key',
      live: 'everywhere',
      make: ({ user_id }) => key(user_id, { workspace_id: a.workspace_id }),
    },
    { name: 'other workspace key', live: 'at home', make: ({ user_id }) => key(user_id, { workspace_id: elsewhere }) },
    {
      name: 'key for this alone',
      live: 'at home',
      make: ({ user_id }, permission) => key(user_id, { permissions: permission === '' ? [] : [permission] }),
    },
    {
      name: 'key for all but this',
      live: 'at home',
      make: ({ user_id }, permission) => key(user_id, { permissions: ALL.filter((other) => other !== permission) }),
    },
    ...(Object.keys(WIDGETS) as Widget[]).map(
      (widget): CredentialKind => ({
        name: `${widget} widget token`,
        live: 'everywhere',
        make: (actor, _, workspace_id) => widgetToken(actor, widget, workspace_id),
      }),
    ),
    { name: 'revoked session', live: 'dead', make: (actor) => session(tenants, actor, 'revoked') },
    { name: 'expired session', live: 'dead', make: (actor) => session(tenants, actor, 'expired') },
    {
      name: 'tampered session',
      live: 'dead',
      make: async (actor) => tampered(await session(tenants, actor, 'live')),
    },
    { name: 'revoked key', live: 'dead', make: ({ user_id }) => key(user_id, { dead: 'revoked' }) },
    { name: 'expired key', live: 'dead', make: ({ user_id }) => key(user_id, { dead: 'expired' }) },
    { name: 'tampered key', live: 'dead', make: async ({ token }) => tampered(token) },
    { name: 'expired identity token', live: 'dead', make: (actor) => identity(actor, -3_600) },
    { name: 'tampered identity token', live: 'dead', make: async (actor) => tampered(await identity(actor, 3_600)) },
    {
      name: 'tampered widget token',
      live: 'dead',
      make: async (actor, _, workspace_id) => tampered(await widgetToken(actor, 'profile', workspace_id)),
    },
  ];
}

/** Inserts a session directly and returns its access token. */
async function session({ world }: Tenants, { user_id }: Actor, state: 'live' | 'revoked' | 'expired'): Promise<string> {
  const { secret, hash } = newToken('access');
  const minutes = state === 'expired' ? -1 : 15;
  await world.db.query(sql`
    insert into sessions (session_id, user_id, access_hash, access_expires_at, address, user_agent, expires_at, revoked_at)
    values (${newId('ses')}, ${user_id}, ${hash}, now() + make_interval(mins => ${minutes}), '', '', now() + interval '1 day',
      case when ${state}::text = 'revoked' then now() end)`);
  return secret;
}

/** Changes a character near the end, where the signature or the checksum is. */
function tampered(token: string): string {
  const at = token.length - 3;
  return token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1);
}

/** Returns an issuer's token for the actor; its subject is the actor's id. */
async function identityToken({ world, env }: Tenants, actor: Actor, seconds: number) {
  const issuer = env.OIDC_ISSUER;
  const { db } = world;
  await db.query(sql`
    insert into identities (issuer, subject, user_id) values (${issuer}, ${actor.user_id}, ${actor.user_id})
    on conflict do nothing`);
  const [user] = await db.query<{ email: string; display_name: string }>(
    sql`select email, display_name from users where user_id = ${actor.user_id}`,
  );
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: AUDIENCE,
    sub: actor.user_id,
    iat: Math.min(now, now + seconds),
    exp: now + seconds,
  };
  const profile = { email: user?.email, email_verified: true, name: user?.display_name };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: 'RS256', typ: 'at+jwt', kid: 'sign-in' })}.${part({ ...claims, ...profile })}`;
  const signature = signBytes('sha256', Buffer.from(input), privateKeys.RS256);
  return `${input}.${signature.toString('base64url')}`;
}
