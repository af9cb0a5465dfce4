import { type Sql, sql } from '../db/sql.ts';
import { hasPermission } from './access-rule.ts';

/**
 * The ids of the people that any of `authors` names: "me", a user_id, an e-mail address, or the beginning of one of the words
 * of a name. Names and addresses are those of members of the workspace, and only for who may read its list of members.
 */
export function namedPeople(authors: readonly string[]): Sql {
  const names = authors.map((author) => author.toLowerCase());
  return sql`
    select a.user_id from access a where 'me' = any (${names}::text[])
    union all
    select id from unnest(${names}::text[]) id where starts_with(id, 'user_')
    union all
    select u.user_id from users u
    join memberships m on m.user_id = u.user_id
    join access a on a.workspace_id = m.workspace_id
    where ${hasPermission('members:read')} and exists (
      select from unnest(${names}::text[]) n (name)
      where lower(u.email) = n.name or position(' ' || n.name in ' ' || lower(u.display_name)) > 0)`;
}
