import { newId } from '../../../platform/core/ids.ts';
import { sql } from '../../../platform/db/sql.ts';
import { type BackgroundJob, defineJob } from '../../../platform/jobs/define-job.ts';
import { mergePending } from './merge-pending.ts';
import type { DocumentKind } from './pending.ts';

/**
 * A merge is due when this many documents are pending, or one is this old: every search scans the pending documents.
 */
const DOCUMENTS_PENDING = 32;
const SECONDS_PENDING = 5;

const KINDS: readonly DocumentKind[] = ['page', 'source'];

/**
 * Merges a batch of a wiki's pending documents into its index, and queues a `reindex` job if its impacts are stale. The
 * next batch of the wiki queues after the batches of other wikis, so that a large import delays no other wiki.
 */
export const mergeSearchIndex: BackgroundJob = defineJob({
  name: 'merge-search-index',
  for: 'wiki',
  lane: 'index',
  key: 'tenant',
  attempts: 'forever',
  timeoutSeconds: 600,
  every: 1,
  due: sql`select wiki_id, workspace_id from wikis_to_index(${DOCUMENTS_PENDING}, make_interval(secs => ${SECONDS_PENDING}))`,
  async run({ db, target: { wiki_id }, signal }) {
    for (const kind of KINDS) if (!signal.aborted) await mergePending(db, wiki_id, kind);
    const rest = sql`
      select w.wiki_id, w.workspace_id from wikis w where w.wiki_id = ${wiki_id} and ${DOCUMENTS_PENDING} <= (
        select count(*) from (select from search_pending p where p.wiki_id = w.wiki_id limit ${DOCUMENTS_PENDING}) p)`;
    await db.query(mergeSearchIndex.enqueue({}, sql`(${rest})`));
    await db.query(sql`
      insert into jobs (wiki_id, job_id, kind) select w.wiki_id, ${newId('job')}, 'reindex' from wikis w
      where w.wiki_id = ${wiki_id} and exists (select from search_wikis s where s.wiki_id = w.wiki_id and s.is_stale)
        and not exists (
          select from jobs j where j.wiki_id = w.wiki_id and j.kind = 'reindex' and j.status in ('queued', 'running'))`);
  },
});
