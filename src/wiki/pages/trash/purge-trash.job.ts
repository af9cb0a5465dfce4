import { untilHeld } from '../../../platform/core/legal-hold.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { dropPendingCte } from '../../search/index/pending.ts';

/** Days that a page can be restored, unless the workspace sets its own number. */
export const TRASH_DAYS = 30;

const DAYS = raw(`coalesce(w.trash_days, ${TRASH_DAYS})`);

/** Pages deleted per transaction, which holds the lock of the tree. */
const BATCH_PAGES = 500;

/** Permanently deletes pages that were in the trash for too long, by the clock of the database. */
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
    // Deletes a section in batches, deepest pages first, so that no page is left without its parent.
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
