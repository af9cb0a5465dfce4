import { type Sql, sql } from '../db/sql.ts';
import { hasPermission } from './access-rule.ts';

/**
 * The ids of the people that `author` names: "me", a user_id, an e-mail address, or the beginning of one of the words of a
 * name. Names and addresses are those of members of the workspace, and only for who may read its list of members.
 */
export function namedPeople(author: string): Sql {
  if (author.toLowerCase() === 'me') return sql`select a.user_id from access a`;
  if (/^user_[0-9a-z]{26}$/.test(author)) return sql`select ${author}::text`;
  return sql`
    select u.user_id from users u
    join memberships m on m.user_id = u.user_id
    join access a on a.workspace_id = m.workspace_id
    where ${hasPermission('members:read')}
      and (lower(u.email) = lower(${author}) or position(' ' || lower(${author}) in ' ' || lower(u.display_name)) > 0)`;
}
