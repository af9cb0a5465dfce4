import type { Query, ServiceDb } from '../db/db.ts';
import { SERVICE } from '../db/request-context.ts';
import { raw, sql } from '../db/sql.ts';
import { dropPendingCte } from '../search/index/pending.ts';

/** How long a page can be restored. */
export const TRASH_DAYS = 30;

const AGE = raw(`interval '${TRASH_DAYS} days'`);

/** Deletes for good what has been in the trash for too long, by the database's clock. Any number may do so at once. */
export async function purgeTrash(db: ServiceDb): Promise<void> {
  const wikis = await db.in(SERVICE).query<{ wiki_id: string }>(sql`select wikis_with_old_trash(${AGE}) as wiki_id`);
  for (const { wiki_id } of wikis) {
    await db.in({ who: 'job', path: { wiki_id } }).transaction((query) => purgeWiki(query, wiki_id));
  }
}

/** What was thrown away first goes first, so that nothing is left below a page that is gone. */
async function purgeWiki(query: Query, wiki_id: string): Promise<void> {
  await query(sql`select from wikis where wiki_id = ${wiki_id} for no key update`);
  await query(sql`
    with old as (
      select p.page_id from pages p
      where p.wiki_id = ${wiki_id} and p.trashed_at < now() - ${AGE} and p.trashed_with = p.page_id
      order by p.trashed_at limit 100
    ), gone as (
      delete from pages p using old o where p.wiki_id = ${wiki_id} and p.trashed_with = o.page_id returning p.page_id
    ), forgotten as (${dropPendingCte('page', wiki_id, raw('select page_id from gone'))})
    update page_links l set to_page_id = null from gone g where l.wiki_id = ${wiki_id} and l.to_page_id = g.page_id`);
}
