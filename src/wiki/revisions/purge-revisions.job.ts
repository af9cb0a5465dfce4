import { newId } from '../../platform/core/ids.ts';
import type { Query } from '../../platform/db/db.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';

/** Pages or revisions checked, and revisions deleted, per transaction. */
const BATCH = 500;

/**
 * Deletes revisions that were replaced longer ago than the workspace's retention period; each batch writes an audit
 * record. Runs continue in chronological order where the last run ended. The first run, and one per month, checks all
 * pages: discarded drafts and imports can leave old revisions that a chronological run has already passed.
 */
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
    const [begun] = await db.query<{ horizon: string | null; walks: boolean }>(sql`
      select horizon::text, walks from begin_revision_purge(${wiki_id})`);
    if (!begun || begun.horizon === null) return;
    await (begun.walks ? walk : followTime)(db.query, wiki_id, signal);
    if (signal.aborted) return;
    await db.query(sql`select end_revision_purge(${wiki_id}, ${begun.horizon}::timestamptz, ${begun.walks})`);
  },
});

/** Checks all pages. */
async function walk(query: Query, wiki_id: string, signal: AbortSignal): Promise<void> {
  for (let page: string | null = ''; page !== null && !signal.aborted; ) {
    const [batch]: { next_page: string | null }[] = await query(
      recorded(wiki_id, sql`select removed, next_page from purge_revisions(${wiki_id}, ${page}, ${BATCH})`),
    );
    page = batch?.next_page ?? null;
  }
}

interface Position {
  after_time: string | null;
  after_page: string | null;
  after_revision: number | null;
}

/** Checks the revisions that were replaced since the last run. */
async function followTime(query: Query, wiki_id: string, signal: AbortSignal): Promise<void> {
  let position: Position = { after_time: null, after_page: null, after_revision: null };
  do {
    const { after_time, after_page, after_revision } = position;
    const [batch] = await query<Position>(
      recorded(
        wiki_id,
        sql`select removed, after_time::text, after_page, after_revision from purge_replaced_revisions(
          ${wiki_id}, ${after_time}::timestamptz, ${after_page}::text, ${after_revision}::int, ${BATCH})`,
      ),
    );
    position = batch ?? { after_time: null, after_page: null, after_revision: null };
  } while (position.after_time !== null && !signal.aborted);
}

/** Runs the batch and writes an audit record with the number of removed revisions. */
function recorded(wiki_id: string, batch: Sql): Sql {
  return sql`
    with purged as materialized (${batch}), audit as (
      insert into audit_events (event_id, workspace_id, type, target_kind, target_id, request_id, address, before)
      select ${newId('evt')}, w.workspace_id, 'wiki.revisions_purged', 'wiki', w.wiki_id, '', '',
        jsonb_build_object('revisions', p.removed)
      from purged p join wikis w on w.wiki_id = ${wiki_id} where p.removed > 0
    )
    select * from purged`;
}
