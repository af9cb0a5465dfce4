import { type Sql, sql } from '../db/sql.ts';

/** The service, as far as it makes addresses of its own. */
export interface OwnAddress {
  publicUrl: string;
}

/** Where the picture of a user `u` is: one of their own, else the one that their identity provider names; '' for none. */
export function avatarUrl({ publicUrl }: OwnAddress): Sql {
  return sql`coalesce(${`${publicUrl}/v1/avatars/`}::text || u.avatar_id, u.avatar_url)`;
}
