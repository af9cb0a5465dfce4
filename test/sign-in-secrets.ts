import { argon2Sync, randomBytes } from 'node:crypto';
import { newId } from '../src/platform/core/ids.ts';
import { sha256 } from '../src/platform/core/secrets.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import type { SignInProvider } from './openid-sign-in.ts';
import { nameOf, PUBLIC_URL } from './requests.ts';
import { signedInClient, signInLink } from './signed-in.ts';
import type { Actor } from './tenants.ts';
import type { World } from './world.ts';

const PASSWORD = 'correct horse battery staple';
const PHC = cheapPhc();

export function signInOptions(provider: SignInProvider): Record<string, string> {
  return {
    PUBLIC_URL,
    PASSWORD_SIGN_IN: 'on',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'confidential',
    OIDC_CLIENT_SECRET: 'secret-of-ibid',
  };
}

/** Creates the secrets that a request to sign in or out uses up, by the names of its body and path parameters. */
export async function freshSecrets(
  world: World,
  provider: SignInProvider,
  endpoint: Endpoint,
  { user_id }: Actor,
  workspace_id: string,
): Promise<Record<string, string>> {
  const { query } = world.db;
  switch (nameOf(endpoint)) {
    case 'POST /v1/auth/refresh':
      return { refresh_token: (await signedInClient(world, user_id)).tokens.refresh_token };
    case 'POST /v1/auth/email':
      return { email: await addressOf(world, user_id) };
    case 'GET /v1/auth/email/lookup':
    case 'POST /v1/auth/email/complete':
      return { token: await signInLink(world, user_id) };
    case 'POST /v1/me/connection': {
      const email = `${randomBytes(8).toString('hex')}@example.com`;
      const other = await world.person(email);
      await query(sql`update users set email = ${email}, email_verified = true where user_id = ${user_id}`);
      return { token: await signInLink(world, other.user_id) };
    }
    case 'POST /v1/auth/invitation': {
      const token = randomBytes(32).toString('base64url');
      await query(sql`
        insert into invitations (invitation_id, workspace_id, email, role, secret_hash, invited_by, expires_at)
        values (${newId('inv')}, ${workspace_id}, ${`${token.toLowerCase()}@example.com`}, 'member',
          ${sha256(token)}::bytea, ${user_id}, now() + interval '1 day')`);
      return { token };
    }
    case 'POST /v1/auth/password': {
      await query(sql`insert into passwords (user_id, phc) values (${user_id}, ${PHC}) on conflict do nothing`);
      await query(sql`update passwords set phc = ${PHC} where user_id = ${user_id}`);
      return { email: await addressOf(world, user_id), password: PASSWORD };
    }
    case 'POST /v1/auth/openid/complete': {
      const { authorization_url, attempt } = (await world.anonymous.post('/v1/auth/openid')).body;
      return { attempt, callback_url: await provider.browse(authorization_url, { sub: 'somebody' }) };
    }
    case 'POST /v1/me/password':
      await query(sql`delete from passwords where user_id = ${user_id}`);
      return {};
    case 'DELETE /v1/me/password':
      await query(sql`insert into passwords (user_id, phc) values (${user_id}, ${PHC}) on conflict do nothing`);
      return {};
    case 'DELETE /v1/me/sessions/:session_id':
    case 'DELETE /v1/widgets/profile/sessions/:session_id':
      return { session_id: (await signedInClient(world, user_id)).tokens.session_id };
    default:
      return {};
  }
}

async function addressOf({ db }: World, user_id: string): Promise<string> {
  const [row] = await db.query<{ email: string }>(
    sql`select subject as email from identities where user_id = ${user_id}`,
  );
  return row?.email ?? '';
}

/** Returns an Argon2id hash with the smallest parameters: the tests do not measure its cost. */
function cheapPhc(): string {
  const nonce = randomBytes(16);
  const hash = argon2Sync('argon2id', {
    message: PASSWORD,
    nonce,
    memory: 8,
    passes: 1,
    parallelism: 1,
    tagLength: 32,
  });
  const [salt, tag] = [nonce, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${tag}`;
}
