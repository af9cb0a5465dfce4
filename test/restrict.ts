import type { Db } from '../src/platform/db/db.ts';
import { sql } from '../src/platform/db/sql.ts';
import type { Level } from '../src/wiki/restrictions/schema.ts';
import type { Answer, Client } from './world.ts';

export type { Level };

interface PageIds {
  wiki_id: string;
  page_id: string;
}

type Levels = Record<string, Level>;

/** Sends a request that restricts a page to these users, or replaces the users of its restriction. */
export function putAccess(by: Client, { wiki_id, page_id }: PageIds, levels: Levels): Promise<Answer> {
  const grants = Object.entries(levels).map(([user_id, level]) => ({ user_id, level }));
  return by.send('PUT', `/v1/wikis/${wiki_id}/pages/${page_id}/access`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grants }),
  });
}

/** Restricts a page and the pages below it to these users, who need not include the author. */
export async function restrict(db: Db, { wiki_id, page_id }: PageIds, levels: Levels): Promise<void> {
  await db.query(sql`
    with acl as (
      insert into page_acls (wiki_id, acl_no, page_id, restricted_by)
      values (${wiki_id}, 0, ${page_id}, ${Object.keys(levels)[0] ?? ''}) returning wiki_id, acl_no
    )
    insert into page_grants (wiki_id, acl_no, user_id, level, granted_by)
    select a.wiki_id, a.acl_no, g.user_id, g.level, g.user_id
    from acl a, unnest(${Object.keys(levels)}::text[], ${Object.values(levels)}::text[]) g (user_id, level)`);
}

/** Lets everybody see the page again who sees the page above it. */
export async function lift(db: Db, { wiki_id, page_id }: PageIds): Promise<void> {
  await db.query(sql`delete from page_acls a where a.wiki_id = ${wiki_id} and a.page_id = ${page_id}`);
}

/** Ends the grant of a user on a restricted page. */
export async function revoke(db: Db, { wiki_id, page_id }: PageIds, user_id: string): Promise<void> {
  await db.query(sql`
    delete from page_grants g using page_acls a
    where a.wiki_id = ${wiki_id} and a.page_id = ${page_id} and g.wiki_id = a.wiki_id and g.acl_no = a.acl_no
      and g.user_id = ${user_id}`);
}
