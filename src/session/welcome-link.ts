import { newLinkSecret } from '../core/secrets.ts';
import { type Sql, sql } from '../db/sql.ts';

/**
 * The link that makes the first user, or undefined where there is a user. Each start creates a new one, as it is shown only
 * once.
 */
export async function offerWelcomeLink(
  query: (statement: Sql) => Promise<unknown[]>,
  publicUrl: string,
): Promise<string | undefined> {
  const { secret, hash } = newLinkSecret();
  const [made] = await query(sql`
    with forgotten as (delete from welcome_links where created_at < now() - interval '30 days')
    insert into welcome_links (token_hash) select ${hash}::bytea where not exists (select from users) returning 1`);
  return made ? new URL(`${publicUrl}/welcome?token=${secret}`).href : undefined;
}
