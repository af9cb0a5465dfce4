import { OWN_ISSUER } from '../access/user-ctes.ts';
import { type Sql, sql } from '../db/sql.ts';

/**
 * A condition: whether the user of the address has a session that was last refreshed from the network. What strangers
 * use up of the limits of an address does not count there, so that users are not locked out of their own account. Sessions
 * that have ended count as long as they are stored, at most 90 days.
 */
export function isKnownNetwork(email: string, network: string): Sql {
  return sql`exists (
    select from identities i join sessions s on s.user_id = i.user_id
    where i.issuer = ${OWN_ISSUER} and i.subject = ${email} and s.network = ${network})`;
}
