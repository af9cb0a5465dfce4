import { newId } from '../core/ids.ts';
import { sql } from '../db/sql.ts';
import { defineJob } from '../jobs/define-job.ts';

/** Pages that are looked at, and revisions that are deleted, in one transaction. */
const BATCH = 500;

/** Deletes revisions that were replaced longer ago than the workspace keeps them; each batch leaves an audit record. */
export const purgeRevisions = defineJob({
  name: 'purge-revisions',
  for: 'wiki',
  lane: 'maintenance',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 3_600,
  every: 86_400,
  due: sql`select wiki_id, workspace_id from wikis_with_revision_retention()`,
  async run({ db, target: { wiki_id }, signal }) {
    for (let page: string | null = ''; page !== null && !signal.aborted; ) {
      const [batch]: { next_page: string | null }[] = await db.query(sql`
        with purged as materialized (
          select removed, next_page from purge_revisions(${wiki_id}, ${page}, ${BATCH})
        ), audit as (
          insert into audit_events (event_id, workspace_id, type, target_kind, target_id, request_id, address, before)
          select ${newId('evt')}, w.workspace_id, 'wiki.revisions_purged', 'wiki', w.wiki_id, '', '',
            jsonb_build_object('revisions', p.removed)
          from purged p join wikis w on w.wiki_id = ${wiki_id} where p.removed > 0
        )
        select next_page from purged`);
      page = batch?.next_page ?? null;
    }
  },
});
