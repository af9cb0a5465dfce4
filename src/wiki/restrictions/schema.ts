import { type Static, Type } from 'typebox';
import { hasPermission } from '../../platform/access/access-rule.ts';
import { Id, InputText, Record, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { examplePage } from '../pages/schema.ts';

/** Maximum number of people whom a restriction admits. */
export const GRANTS_MAX = 1_000;

const Level = Type.Enum(['read', 'comment', 'write', 'manage'], {
  description:
    'What the person may do with the pages. Each level includes the levels before it; `manage` also decides who has access. The role stays the ceiling: a viewer with `write` only reads.',
});
export type Level = Static<typeof Level>;

export const GivenGrant = Type.Object({ user_id: InputText(), level: Level }, { title: 'GivenGrant' });
export type GivenGrant = Static<typeof GivenGrant>;

export const PageAccess = Record(
  {
    page_id: Id,
    wiki_id: Id,
    grants: Type.Array(
      Record(
        {
          user_id: Id,
          display_name: Type.String({
            description: 'Name or e-mail address of the member; "" if the caller may not list members.',
          }),
          level: Level,
        },
        { title: 'PageGrant' },
      ),
      { description: `The people who have access, by user_id; at most ${GRANTS_MAX.toLocaleString('en')}.` },
    ),
    restricted_by: Type.String({ description: 'The user who restricted the page.' }),
    restricted_at: Timestamp,
  },
  { title: 'PageAccess', description: 'The restriction of a page and the pages below it.' },
);
export type PageAccess = Static<typeof PageAccess>;

/** Selects the PageAccess of a page; no row if the page itself is not restricted. */
export function pageAccess({ wiki_id, page_id }: { wiki_id: string; page_id: string }): Sql {
  return sql`
    select k.page_id, k.wiki_id, k.restricted_by, k.restricted_at, coalesce((
      select json_agg(json_build_object('user_id', g.user_id, 'level', g.level, 'display_name', coalesce((
        select coalesce(nullif(u.display_name, ''), u.email)
        from access a join memberships m on m.workspace_id = a.workspace_id and m.user_id = g.user_id
        join users u on u.user_id = m.user_id
        where ${hasPermission('members:read')}), '')) order by g.user_id)
      from page_grants g where g.wiki_id = k.wiki_id and g.acl_no = k.acl_no), '[]') as grants
    from page_acls k where k.wiki_id = ${wiki_id} and k.page_id = ${page_id}`;
}

export const examplePageAccess: PageAccess = {
  page_id: examplePage.page_id,
  wiki_id: examplePage.wiki_id,
  grants: [
    { user_id: examplePage.created_by, display_name: 'Ada Lovelace', level: 'manage' },
    { user_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q9', display_name: 'Grace Hopper', level: 'write' },
  ],
  restricted_by: examplePage.created_by,
  restricted_at: examplePage.created_at,
};
