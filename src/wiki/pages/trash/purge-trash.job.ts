import { untilHeld } from '../../../platform/core/legal-hold.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { dropPendingCte } from '../../search/index/pending.ts';

/** How long a page can be restored where the workspace says nothing else. */
export const TRASH_DAYS = 30;

const DAYS = raw(`coalesce(w.trash_days, ${TRASH_DAYS})`);

/** Pages that are deleted in one transaction, which holds the lock on the tree. */
const BATCH_PAGES = 500;

/** Deletes for good what has been in the trash for too long, by the database's clock. */
export const purgeTrash = defineJob({
  name: 'purge-trash',
  for: 'wiki',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 3_600,
  due: sql`select wiki_id, workspace_id from wikis_with_trash_to_purge(${TRASH_DAYS})`,
  async run({ db, target: { wiki_id }, signal }) {
    // Pages of one section leave in batches, those that lie deepest first, so that none is left below a page that is gone.
    const purgeBatch = () =>
      db.transaction(async (query) => {
        await query(sql`select from wikis where wiki_id = ${wiki_id} for no key update`);
        return query(sql`
          with old as (
            select p.page_id from pages p join pages top on top.wiki_id = p.wiki_id and top.page_id = p.trashed_with
            where p.wiki_id = ${wiki_id} and top.trashed_at < (
              select purge_horizon(${DAYS}, w.retention_changed_at, w.held_since)
              from wikis k join workspaces w on w.workspace_id = k.workspace_id where k.wiki_id = ${wiki_id})
            order by p.path desc limit ${BATCH_PAGES}
          ), gone as (
            delete from pages p using old o where p.wiki_id = ${wiki_id} and p.page_id = o.page_id returning p.page_id
          ), dropped as (${dropPendingCte('page', wiki_id, raw('select page_id from gone'))}
          ), unlinked as (
            update page_links l set to_page_id = null from gone g where l.wiki_id = ${wiki_id} and l.to_page_id = g.page_id
          )
          select page_id from gone`);
      });
    await untilHeld(async () => {
      while (!signal.aborted && (await purgeBatch()).length > 0);
    });
  },
});
