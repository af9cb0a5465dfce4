import type { Static } from 'typebox';
import type { AuthorizedDb } from '../access/guard.ts';
import { newToken } from '../access/token.ts';
import { ApiError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { withoutNulls } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { type ApiKey, type ApiKeyWish, apiKeyColumns, readWish } from './schema.ts';

/**
 * Makes a key of the guard's workspace, or of the caller where the guard is on nothing but the caller. A key is never
 * worth more than the credential that asked for it: what that one may not, the new one may not either,
 * and it ends no later.
 */
export async function createKey(
  db: AuthorizedDb,
  wished: Static<typeof ApiKeyWish>,
): Promise<ApiKey & { secret: string }> {
  const wish = readWish(wished);
  if (wish instanceof ApiError) return db.refuse(wish);
  const asker = await db.maybeOne<{ granted: string[] | null }>(sql`select granted from access`);
  const { secret, hash, obfuscated } = newToken('key');
  const permissions = narrowed(wish.permissions, asker?.granted ?? null);
  const made = await db.one<ApiKey>({
    k: sql`
      insert into api_keys (key_id, workspace_id, user_id, name, secret_hash, obfuscated_value, permissions, expires_at)
      select ${newId('key')}, workspace_id, user_id, ${wish.name}, ${hash}, ${obfuscated}, ${permissions}::text[],
        least(${wish.expires_at}::timestamptz, (select expires_at from api_keys where key_id = access.credential_id))
      from access returning *`,
    result: sql`select ${apiKeyColumns} from k`,
  });
  return { ...withoutNulls(made), secret };
}

function narrowed(wished: string[] | null, granted: string[] | null): string[] | null {
  if (granted === null) return wished;
  return wished === null ? granted : wished.filter((permission) => granted.includes(permission));
}
