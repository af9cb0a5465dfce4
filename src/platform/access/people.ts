import { Type } from 'typebox';
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
      where folded(u.email) = n.name or position(' ' || n.name in ' ' || folded(u.display_name)) > 0)`;
}

/** As long as an e-mail address may be. */
const TEXT_MAX = 254;

/** The part of a query that finds people in a list of a workspace. */
export const PeopleQuery = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: TEXT_MAX,
    description: 'Only those whose name or e-mail address contains this, in any case.',
  }),
);

/** Whether the column contains the text, in any case. */
export function contains(column: Sql, text: string): Sql {
  return sql`position(lower(${text.trim().normalize('NFC')}::text) in folded(${column})) > 0`;
}
