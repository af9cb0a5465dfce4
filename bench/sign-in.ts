import { randomBytes } from 'node:crypto';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { Client } from 'pg';
import { sha256 } from '../src/platform/core/secrets.ts';

const EMAIL = 'bench@example.com';

/**
 * Signs in the user of the bench by a link that is written into the database instead of a mail. Returns the cookie of
 * the browser session.
 */
export async function signIn(dataDir: string, address: string): Promise<string> {
  const connection = runningPostgres(dataDir);
  if (!connection) throw new Error('the service runs no PostgreSQL of its own: unset DATABASE_URL');
  const token = randomBytes(32).toString('base64url');
  const database = new Client(connection);
  await database.connect();
  await database.query(
    "insert into email_links (link_id, email, network, token_hash, expires_at) values ($1, $1, '', $2, now() + interval '1 hour')",
    [EMAIL, sha256(token)],
  );
  await database.query('vacuum analyze');
  await database.end();
  const { access_token } = await post(`${address}/v1/auth/email/complete`, { token });
  const { browser_secret } = await post(`${address}/v1/auth/browser`, {}, { authorization: `Bearer ${access_token}` });
  return `ibid=${browser_secret}`;
}

async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Record<string, string>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
