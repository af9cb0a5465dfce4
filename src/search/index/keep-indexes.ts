import { newId } from '../../core/ids.ts';
import type { ServiceDb } from '../../db/db.ts';
import { SERVICE } from '../../db/request-context.ts';
import { sql } from '../../db/sql.ts';
import { mergePending } from './merge-pending.ts';
import type { DocumentKind } from './pending.ts';

/** So many documents, or one that waits so long, are folded: each search looks through those that wait. */
const DOCUMENTS_WAIT = 32;
const SECONDS_WAIT = 5;

/** Folds what waits in any wiki, and asks for the jobs that are due. Any number of workers may do so at once. */
export async function keepIndexes(db: ServiceDb): Promise<void> {
  const work = await db.in(SERVICE).query<{ wiki_id: string; kind: DocumentKind; is_stale: boolean }>(sql`
    select wiki_id, kind, is_stale from indexes_with_work(${DOCUMENTS_WAIT}, make_interval(secs => ${SECONDS_WAIT}))`);
  const stale = new Set<string>();
  for (const { wiki_id, kind, is_stale } of work) {
    const own = db.in({ who: 'job', path: { wiki_id } });
    if (!is_stale) while ((await mergePending(own, wiki_id, kind)) > 0);
    else if (!stale.has(wiki_id)) {
      stale.add(wiki_id);
      await own.query(sql`
        insert into jobs (wiki_id, job_id, kind) select ${wiki_id}, ${newId('job')}, 'reindex' where exists (
          select from wikis where wiki_id = ${wiki_id})`);
    }
  }
}
