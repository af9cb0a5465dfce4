import { newToken } from '../../platform/access/token.ts';
import { ensureUser, ownProfile } from '../../platform/access/user-ctes.ts';
import { normalizeEmail } from '../../platform/core/email-address.ts';
import { newId } from '../../platform/core/ids.ts';
import { isOfDomains } from '../../platform/core/sign-in/mail-domains.ts';
import type { Db } from '../../platform/db/db.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Config } from '../config.ts';
import { readArguments } from './arguments.ts';
import { UsageError, withDatabase } from './with-database.ts';

export const KEY_USAGE = `  ibid key --email ADDRESS [--name NAME]                        creates a personal API key of that user, who is created if new
  ibid key --email ADDRESS --workspace WORKSPACE_ID [--name NAME]   creates a key for one workspace of that user`;

interface KeyOptions {
  email: string;
  name: string;
  /** null for a personal key. */
  workspace_id: string | null;
}

/** Runs `ibid key …`, which prints only the secret of the key, for scripts. Throws UsageError. */
export async function runKeyCommand(
  config: Config,
  args: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  const { values } = readArguments(args, {
    options: {
      email: { type: 'string' },
      workspace: { type: 'string' },
      name: { type: 'string', default: 'ibid key' },
    },
    most: 0,
    usage: KEY_USAGE,
  });
  const { email, workspace, name } = values;
  if (email === undefined) throw new UsageError(`give the address of the user: --email ADDRESS.\n\n${KEY_USAGE}`);
  const domains = config.SIGN_IN_DOMAINS;
  if (!isOfDomains(email.trim(), domains)) {
    throw new UsageError(
      `SIGN_IN_DOMAINS is ${domains.join(',')}, so ${email} may not use this service. Add its domain, or use another address.`,
    );
  }
  await withDatabase(config, async (db) => print(await makeKey(db, { email, name, workspace_id: workspace ?? null })));
}

/**
 * Creates an API key and returns its secret. The key belongs to the oldest user who verified this address, or to a new
 * user.
 */
export async function makeKey(db: Db, options: KeyOptions): Promise<string> {
  const email = normalizeEmail(options.email);
  if (email === undefined) throw new UsageError(`"${options.email}" is not a single plain e-mail address.`);
  const [known] = await db.query<{ user_id: string }>(sql`
    select user_id from users where email = ${email} and email_verified order by user_id limit 1`);
  const user_id = known?.user_id ?? (await ensureUser(db.query, ownProfile(email)));
  const { secret, hash, obfuscated } = newToken('key');
  const made = await db.query(sql`
    with made as (
      insert into api_keys (key_id, workspace_id, user_id, name, secret_hash, obfuscated_value)
      select ${newId('key')}, ${options.workspace_id}::text, ${user_id}::text, ${options.name}, ${hash}, ${obfuscated}
      where ${options.workspace_id}::text is null or exists (
        select from memberships where workspace_id = ${options.workspace_id} and user_id = ${user_id} and status = 'active')
      returning key_id, workspace_id, user_id, name
    )
    insert into audit_events (event_id, workspace_id, type, target_kind, target_id, actor_id, credential_kind, credential_id,
      request_id, address, after)
    select ${newId('evt')}, workspace_id, 'api_key.created', 'api_key', key_id, user_id, 'command', 'command', '', '',
      jsonb_strip_nulls(to_jsonb(made)) from made
    returning 1`);
  if (made.length === 0) throw new UsageError(`${email} has no active membership in ${options.workspace_id}.`);
  return secret;
}
