import { Type } from 'typebox';
import { type Sql, sql } from '../db/sql.ts';
import { hasPermission } from './access-rule.ts';

/**
 * Returns the ids of people that match one of `authors`: "me", a user_id, an email address, or the start of a word of a
 * name. Names and addresses only match members of the workspace, and only if the caller may list its members.
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
      where folded(u.email) = n.name or position(' ' || n.name in ' ' || folded(u.display_name)) > 0)`;
}

/** Maximum length of an email address. */
const TEXT_MAX = 254;

/** Query parameter that searches people in a list of a workspace. */
export const PeopleQuery = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: TEXT_MAX,
    description: 'Only people whose name or e-mail address contains this text, ignoring case.',
  }),
);

/** Returns the condition that the column contains the text, case-insensitively. */
export function contains(column: Sql, text: string): Sql {
  return sql`position(lower(${text.trim().normalize('NFC')}::text) in folded(${column})) > 0`;
}
