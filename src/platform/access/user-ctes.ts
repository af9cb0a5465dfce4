import { newId } from '../core/ids.ts';
import type { Query } from '../db/db.ts';
import { raw, type Sql, sql } from '../db/sql.ts';
import type { Identity } from '../providers/identity/access-token.ts';
import { changedFields } from './audit-record.ts';

export type Profile = Omit<Identity, 'expires_at'>;

/** Issuer of users whom this service knows only by their address. */
export const OWN_ISSUER = 'ibid';

/** Returns the profile of a user who has verified an address, or for whom the operator vouches. */
export function ownProfile(email: string, display_name = email.slice(0, email.indexOf('@'))): Profile {
  return { issuer: OWN_ISSUER, subject: email, email, email_verified: true, display_name, avatar_url: '' };
}

/** Columns of a user `u` that a sign-in may write, for its audit record. */
const profileColumns: Sql = raw('u.user_id, u.email, u.email_verified, u.display_name, u.avatar_url');

/**
 * Returns the CTEs of a statement that finds the user of (issuer, subject), creates it, or updates it from the issuer's
 * claims, with an audit record. Users who also sign in by mail keep their profile: no issuer changes an address whose
 * mailbox they have proved to own. If several statements create the same user concurrently, the unique key lets one
 * succeed; for the others `USER_OF_CTES` is empty, and they must be sent again.
 */
export function userCtes(profile: Profile): Record<'known' | 'made' | 'new_user' | 'changed' | 'user_audit', Sql> {
  const { issuer, subject, email, email_verified, display_name, avatar_url } = profile;
  return {
    known: sql`
      select ${profileColumns} from identities i join users u on u.user_id = i.user_id
      where i.issuer = ${issuer} and i.subject = ${subject}`,
    made: sql`
      insert into identities (issuer, subject, user_id) select ${issuer}, ${subject}, ${newId('user')}
      where not exists (select from known)
      on conflict do nothing returning user_id`,
    new_user: sql`
      insert into users as u (user_id, email, email_verified, display_name, avatar_url)
      select user_id, ${email}::text, ${email_verified}::boolean, ${display_name}::text, ${avatar_url}::text from made
      returning ${profileColumns}`,
    changed: sql`
      update users u set email = ${email}, email_verified = ${email_verified}, display_name = ${display_name},
        avatar_url = ${avatar_url}
      from known where u.user_id = known.user_id and ${issuer}::text <> ${OWN_ISSUER}::text
        and not exists (select from identities own where own.user_id = known.user_id and own.issuer = ${OWN_ISSUER}::text)
        and (u.email, u.email_verified, u.display_name, u.avatar_url)
          is distinct from (${email}::text, ${email_verified}::boolean, ${display_name}::text, ${avatar_url}::text)
      returning ${profileColumns}`,
    user_audit: sql`
      insert into audit_events (event_id, type, target_kind, target_id, actor_id, credential_kind, credential_id, request_id,
        address, before, after)
      select ${newId('evt')}, 'user.' || what, 'user', user_id, user_id, 'identity', ${issuer}, '', '',
        ${changedFields('was', 'became')}, ${changedFields('became', 'was')}
      from (
        select 'created' as what, user_id, '{}'::jsonb as was, to_jsonb(new_user) as became from new_user
        union all
        select 'updated', user_id, to_jsonb(known), to_jsonb(changed) from changed join known using (user_id)
      ) writes`,
  };
}

/** Returns the user that `userCtes` found or created. */
export const USER_OF_CTES: Sql = raw('select user_id from known union all select user_id from new_user');

/** Finds, creates or updates the user of (issuer, subject), in one statement with its audit record. Returns the user's id. */
export async function ensureUser(query: Query, profile: Profile): Promise<string> {
  const { known, made, new_user, changed, user_audit } = userCtes(profile);
  const upsert = sql`
    with known as (${known}), made as (${made}), new_user as (${new_user}), changed as (${changed}),
    user_audit as (${user_audit})
    ${USER_OF_CTES}`;
  // If another request won the race to create the user, the second attempt finds the user.
  const [row] = await query<{ user_id: string }>(upsert);
  const [found] = row ? [row] : await query<{ user_id: string }>(upsert);
  if (!found) throw new Error('a user was neither found nor created');
  return found.user_id;
}
