import type { Db, Query } from '../../../platform/db/db.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { type ClaimedJob, defineRecordJob } from '../../../platform/jobs/define-job.ts';
import { advanceJob, endJob } from '../../../platform/jobs/record-queue.ts';
import { mergePending } from './merge-pending.ts';
import type { DocumentKind } from './pending.ts';

const BATCH = 500;
const KINDS: readonly DocumentKind[] = ['page', 'source'];

/**
 * Rebuilds the index of a wiki from its texts, if documents are older than the index or impacts were computed with
 * outdated averages. Searches find the previous state of each document until its batch is merged. After a crash the job
 * starts over; repeating a batch changes nothing.
 */
export const reindexJob = defineRecordJob({
  name: 'reindex',
  lane: 'index',
  attempts: 5,
  async run({ db, job, signal }) {
    let done = 0;
    const total = await countDocuments(db.query, job.wiki_id);
    for (const kind of KINDS) {
      await updatePivots(db.query, job.wiki_id, kind);
      for (let after: string | undefined = ''; after !== undefined; ) {
        if (signal.aborted) return;
        const ids: string[] = await queueNextBatch(db, job, kind, after, Math.floor((100 * done) / Math.max(1, total)));
        done += ids.length;
        while ((await mergePending(db, job.wiki_id, kind, 'wait')) > 0) if (signal.aborted) return;
        after = ids.at(-1);
      }
    }
    await db.transaction(async (query) => {
      await query(sql`update search_wikis set is_stale = false where wiki_id = ${job.wiki_id} and is_stale`);
      await endJob(query, job, { status: 'completed', summary: `${done} pages and sources reindexed.`, error: '' });
    });
  },
  // Failure ends the job: documents indexed so far are found, and the next change of the averages queues another job.
  async onFailure(query, job, error) {
    await query(sql`update search_wikis set is_stale = false where wiki_id = ${job.wiki_id} and is_stale`);
    await endJob(query, job, { status: 'failed', summary: 'Searches may miss some content of the wiki.', error });
  },
});

async function countDocuments(query: Query, wiki_id: string): Promise<number> {
  const [row] = await query<{ count: number }>(sql`
    select ((select count(*) from pages where wiki_id = ${wiki_id})
      + (select count(*) from sources where wiki_id = ${wiki_id}))::int as count`);
  return row?.count ?? 0;
}

/** Sets the pivots to the current averages; impacts computed from now on use them. */
async function updatePivots(query: Query, wiki_id: string, kind: DocumentKind): Promise<void> {
  await query(sql`
    update search_wikis set pivot_title = greatest(1, title_terms::real / documents),
      pivot_body = greatest(1, body_terms::real / documents)
    where wiki_id = ${wiki_id} and kind = ${kind} and documents > 0`);
}

/**
 * Queues the next documents by id and returns their ids. Their terms are computed from their texts when they are
 * merged.
 */
function queueNextBatch(
  db: Db,
  job: ClaimedJob,
  kind: DocumentKind,
  after: string,
  progress: number,
): Promise<string[]> {
  const id = raw(`d.${kind}_id`);
  const version = raw(kind === 'page' ? 'd.revision' : '1');
  return db.transaction(async (query) => {
    await advanceJob(query, job, progress);
    const rows = await query<{ id: string }>(sql`
      with next as (
        select ${id} as id, ${version} as version from ${raw(`${kind}s`)} d
        where d.wiki_id = ${job.wiki_id} and ${id} > ${after} order by ${id} limit ${BATCH}
      ), queued as (
        insert into search_pending (wiki_id, kind, document_id, version)
        select ${job.wiki_id}, ${kind}, id, version from next
        on conflict (wiki_id, kind, document_id, version) do update set analysis = 0
      )
      select id from next order by id`);
    return rows.map((row) => row.id);
  });
}
