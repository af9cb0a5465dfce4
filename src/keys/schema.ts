import { type Static, Type } from 'typebox';
import { type Sql, sql } from '../db/sql.ts';
import { Id, Record, Timestamp } from '../http/records.ts';

export const ApiKey = Record({
  key_id: Id,
  name: Type.String(),
  obfuscated_value: Type.String({ description: 'The prefix and the last four characters.' }),
  permissions: Type.Array(Type.String(), { description: 'Empty: all that the role of its creator gives.' }),
  created_at: Timestamp,
  created_by: Id,
  expires_at: Type.Optional(Timestamp),
  last_used_at: Type.Optional(Timestamp),
});
export type ApiKey = Static<typeof ApiKey>;

/** A key `k` as JSON; a time that has not been set is left out. */
export const apiKeyJson: Sql = sql`
  jsonb_strip_nulls(jsonb_build_object('key_id', k.key_id, 'name', k.name, 'obfuscated_value', k.obfuscated_value,
    'permissions', coalesce(k.permissions, '{}'), 'created_at', rfc3339(k.created_at), 'created_by', k.user_id,
    'expires_at', rfc3339(k.expires_at), 'last_used_at', rfc3339(k.last_used_at)))`;

export const exampleApiKey: ApiKey = {
  key_id: 'key_01jd8w3v6xf3e8h2k9m4n5p6r3',
  name: 'Import script',
  obfuscated_value: 'ibid_live_…x4Qa',
  permissions: [],
  created_at: '2026-11-21T05:29:32.104Z',
  created_by: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8',
  last_used_at: '2026-11-21T06:00:00.000Z',
};
