import { type Sql, sql } from '../db/sql.ts';

/** The part of the service that builds its own URLs. */
export interface OwnAddress {
  publicUrl: string;
}

/**
 * Returns a SQL expression for the picture URL of a user `u`: of the uploaded picture, else of the identity provider's,
 * else ''.
 */
export function avatarUrl({ publicUrl }: OwnAddress): Sql {
  return sql`coalesce(${`${publicUrl}/v1/avatars/`}::text || u.avatar_id, u.avatar_url)`;
}
