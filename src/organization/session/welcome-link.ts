import { hkdfSync } from 'node:crypto';
import { sha256 } from '../../platform/core/secrets.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

const PURPOSE = 'ibid welcome link';

/**
 * Returns the link that creates the first user; undefined if a user exists. Its secret is derived from the signing key
 * of the service, so every process and each start offer the same link; the database stores its hash. The link expires
 * 30 days after the last start.
 */
export async function offerWelcomeLink(
  query: <T>(statement: Sql) => Promise<T[]>,
  publicUrl: string,
): Promise<string | undefined> {
  const [key] = await query<{ secret: Buffer }>(sql`select secret from signing_keys order by created_at, kid limit 1`);
  if (!key) throw new Error('there is no signing key');
  const secret = Buffer.from(hkdfSync('sha256', key.secret, '', PURPOSE, 32)).toString('base64url');
  const [offered] = await query(sql`
    insert into welcome_links (token_hash) select ${sha256(secret)}::bytea where not exists (select from users)
    on conflict (token_hash) do update set created_at = now()
    returning 1`);
  return offered ? new URL(`${publicUrl}/welcome?token=${secret}`).href : undefined;
}
