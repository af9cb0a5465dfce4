import { newId } from '../../core/ids.ts';
import type { Query } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { type ArchivedPerson, PEOPLE_FILE } from '../export/archive-format.ts';
import { invalid } from './archive-error.ts';
import { shown } from './open-archive.ts';

/**
 * Who the people of an archive are here, by the ids that the archive has for them: members of the workspace by their
 * address. All others, `strangers`, get a new id, under which the archive's profile is to be stored; the id of a user who is
 * not a member is never used, since an archive can name any id.
 */
export async function peopleHere(
  query: Query,
  wiki_id: string,
  people: readonly ArchivedPerson[],
): Promise<{ personOf: (user_id: string) => string; strangers: ArchivedPerson[] }> {
  const members = await query<{ user_id: string; email: string }>(sql`
    select u.user_id, u.email from wikis w
    join memberships m on m.workspace_id = w.workspace_id join users u on u.user_id = m.user_id
    where w.wiki_id = ${wiki_id} order by m.status, u.user_id desc`);
  const idOf = new Map(members.map(({ user_id, email }) => [email, user_id]));
  const emailOf = new Map(members.map(({ user_id, email }) => [user_id, email]));
  const here = new Map<string, string>();
  const strangers: ArchivedPerson[] = [];
  for (const person of people) {
    const { user_id, email } = person;
    const member = emailOf.get(user_id) === email ? user_id : idOf.get(email);
    const id = member ?? newId('user');
    here.set(user_id, id);
    if (member === undefined) strangers.push({ ...person, user_id: id });
  }
  const personOf = (user_id: string) => {
    const id = here.get(user_id);
    if (id === undefined) throw invalid(`${PEOPLE_FILE} does not list ${shown(user_id)}, whom another file names.`);
    return id;
  };
  return { personOf, strangers };
}
