import { type Static, Type } from 'typebox';
import { PERMISSIONS } from '../../platform/access/roles.ts';
import { databaseTime } from '../../platform/core/clock.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id, InputText, Record, Timestamp } from '../../platform/core/records.ts';
import { readTimestamp } from '../../platform/core/timestamps.ts';
import { readName } from '../../platform/core/titles.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

const keyProperties = {
  key_id: Id,
  name: Type.String(),
  obfuscated_value: Type.String({ description: 'The prefix and the last four characters.' }),
  permissions: Type.Array(Type.String(), { description: "Empty: all permissions of its creator's role." }),
  created_at: Timestamp,
  created_by: Id,
  expires_at: Type.Optional(Timestamp),
  last_used_at: Type.Optional(Timestamp),
};

export const ApiKey = Record(keyProperties, { title: 'ApiKey' });
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = Record(
  {
    ...keyProperties,
    secret: Type.String({ description: 'The key itself, shown only once.' }),
  },
  { title: 'NewApiKey' },
);

export const ApiKeyInput = Type.Object({
  name: InputText({ minLength: 1 }),
  permissions: Type.Optional(
    Type.Array(InputText(), { maxItems: 100, description: 'Only these permissions; if omitted, all of the role.' }),
  ),
  expires_at: Type.Optional(InputText({ description: 'RFC 3339; if omitted, the key never expires.' })),
});

/** Columns of ApiKey, from a key `k`. */
export const apiKeyColumns: Sql = sql`
  k.key_id, k.name, k.obfuscated_value, coalesce(k.permissions, '{}') as permissions, k.created_at, k.user_id as created_by,
  k.expires_at, k.last_used_at`;

interface CheckedKeyInput {
  name: string;
  permissions: string[] | null;
  expires_at: string | null;
}

/**
 * Validates the input for a new key. Returns 400 for an invalid name, an unknown permission or an expiry in the past.
 */
export function checkKeyInput(input: Static<typeof ApiKeyInput>): CheckedKeyInput | ApiError {
  const name = readName(input.name);
  if (name instanceof ApiError) return name;
  const unknown = input.permissions?.find((permission) => !PERMISSIONS.some((known) => known === permission));
  if (unknown !== undefined) {
    return new ApiError(
      'invalid_request',
      `Unknown permission "${unknown.slice(0, 64)}". Permissions: ${PERMISSIONS.join(', ')}.`,
    );
  }
  const expires_at = input.expires_at === undefined ? null : readTimestamp(input.expires_at);
  if (expires_at === undefined || (expires_at !== null && Date.parse(expires_at) <= databaseTime())) {
    return new ApiError('invalid_request', 'expires_at must be a future time in RFC 3339: 2027-01-31T12:00:00Z.');
  }
  const permissions = input.permissions && input.permissions.length > 0 ? [...new Set(input.permissions)].sort() : null;
  return { name, permissions, expires_at };
}

export const exampleApiKey: ApiKey = {
  key_id: 'key_01jd8w3v6xf3e8h2k9m4n5p6r3',
  name: 'Import script',
  obfuscated_value: 'ibid_live_…x4Qa',
  permissions: [],
  created_at: '2026-11-21T05:29:32.104Z',
  created_by: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  last_used_at: '2026-11-21T06:00:00.000Z',
};

const { last_used_at: _, ...unused } = exampleApiKey;

export const exampleNewApiKey = { ...unused, secret: 'ibid_live_5uVq…x4Qa' };
