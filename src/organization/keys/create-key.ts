import type { Static } from 'typebox';
import type { AuthorizedDb } from '../../platform/access/guard.ts';
import { newToken } from '../../platform/access/token.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { withoutNulls } from '../../platform/core/records.ts';
import { sql } from '../../platform/db/sql.ts';
import { type ApiKey, type ApiKeyInput, apiKeyColumns, checkKeyInput } from './schema.ts';

/**
 * Creates a key of the guard's workspace, or of the caller if the guard has no workspace. A key has at most the
 * permissions of the credential that creates it, and expires no later.
 */
export async function createKey(
  db: AuthorizedDb,
  input: Static<typeof ApiKeyInput>,
): Promise<ApiKey & { secret: string }> {
  const checked = checkKeyInput(input);
  if (checked instanceof ApiError) return db.refuse(checked);
  const asker = await db.maybeOne<{ granted: string[] | null }>(sql`select granted from access`);
  const { secret, hash, obfuscated } = newToken('key');
  const permissions = narrowed(checked.permissions, asker?.granted ?? null);
  const made = await db.one<ApiKey>({
    k: sql`
      insert into api_keys (key_id, workspace_id, user_id, name, secret_hash, obfuscated_value, permissions, expires_at)
      select ${newId('key')}, workspace_id, user_id, ${checked.name}, ${hash}, ${obfuscated}, ${permissions}::text[],
        least(${checked.expires_at}::timestamptz, (select expires_at from api_keys where key_id = access.credential_id))
      from access returning *`,
    result: sql`select ${apiKeyColumns} from k`,
  });
  return { ...withoutNulls(made), secret };
}

function narrowed(requested: string[] | null, granted: string[] | null): string[] | null {
  if (granted === null) return requested;
  return requested === null ? granted : requested.filter((permission) => granted.includes(permission));
}
