import type { OwnerDb } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';

export type Level = 'read' | 'comment' | 'write' | 'manage';

/** Restricts a page and the pages below it to these users. */
export async function restrict(
  db: OwnerDb,
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
  grants: Record<string, Level>,
): Promise<void> {
  await db.query(sql`
    with acl as (
      insert into page_acls (wiki_id, acl_no, page_id, restricted_by)
      values (${wiki_id}, 0, ${page_id}, ${Object.keys(grants)[0] ?? ''}) returning wiki_id, acl_no
    )
    insert into page_grants (wiki_id, acl_no, user_id, level, granted_by)
    select a.wiki_id, a.acl_no, g.user_id, g.level, g.user_id
    from acl a, unnest(${Object.keys(grants)}::text[], ${Object.values(grants)}::text[]) g (user_id, level)`);
}

/** Lets everybody see the page again who sees the page above it. */
export async function lift(db: OwnerDb, { wiki_id, page_id }: { wiki_id: string; page_id: string }): Promise<void> {
  await db.query(sql`delete from page_acls a where a.wiki_id = ${wiki_id} and a.page_id = ${page_id}`);
}

/** Ends the grant of a user on a restricted page. */
export async function revoke(
  db: OwnerDb,
  { wiki_id, page_id }: { wiki_id: string; page_id: string },
  user_id: string,
): Promise<void> {
  await db.query(sql`
    delete from page_grants g using page_acls a
    where a.wiki_id = ${wiki_id} and a.page_id = ${page_id} and g.wiki_id = a.wiki_id and g.acl_no = a.acl_no
      and g.user_id = ${user_id}`);
}
