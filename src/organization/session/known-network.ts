import { OWN_ISSUER } from '../../platform/access/user-ctes.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** The name under which guesses of a known device are counted; no network has it. */
const DEVICE = 'device ';

/**
 * A statement of one row: `address`, under which a guess at the password of the address is counted, and `known`: whether the
 * user signed in from there before. A device is known by the secret that a session of this user gave it, and then has a count
 * of its own, wherever it is. Any other secret changes nothing.
 */
export function placeOf(email: string, network: string, device: Buffer | undefined): Sql {
  if (!device) return sql`select ${network}::text as address, ${isKnownNetwork(email, network)} as known`;
  return sql`
    select case when is_device then ${DEVICE + device.toString('base64url')} else ${network}::text end as address,
      is_device or ${isKnownNetwork(email, network)} as known
    from (select exists (
      select from identities i join sessions s on s.user_id = i.user_id
      where i.issuer = ${OWN_ISSUER} and i.subject = ${email} and s.device_hash = ${device}) as is_device) d`;
}

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
