import { OWN_ISSUER } from '../../platform/access/user-ctes.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** Prefix of the key that counts guesses from a known device; no network has this form. */
const DEVICE = 'device ';

/**
 * Returns a statement with one row: `address`, the key under which a password guess is counted, and `known`, whether
 * the user has signed in from there before. A device is known by the secret that a session of this user gave it; it has
 * its own count in every network. An unknown secret is ignored.
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
 * Condition that the user of the address has a session last refreshed from the network. Such networks have their own
 * limits, so that strangers cannot lock users out of their account. Ended sessions count until they are deleted, at
 * most 90 days.
 */
export function isKnownNetwork(email: string, network: string): Sql {
  return sql`exists (
    select from identities i join sessions s on s.user_id = i.user_id
    where i.issuer = ${OWN_ISSUER} and i.subject = ${email} and s.network = ${network})`;
}
