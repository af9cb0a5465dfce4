import { sql } from '../src/platform/db/sql.ts';
import { enqueueDue } from '../src/platform/jobs/background-queue.ts';
import type { BackgroundJob } from '../src/platform/jobs/define-job.ts';
import { removeDeletedWiki } from '../src/wiki/wikis/trash/remove-deleted-wiki.job.ts';
import { until } from './until.ts';
import type { Owner, World } from './world.ts';

/** Enqueues a scheduled job now, lets the workers of a world run it, and waits until it is done. */
export async function runScheduled({ db }: World, job: BackgroundJob): Promise<void> {
  const left = () =>
    db.query(sql`
      select wiki_id, status, failures, error from background_jobs
      where name = ${job.name} and status in ('queued', 'running')`);
  const isEmpty = ({ length }: unknown[]) => length === 0;
  // A job that started earlier may miss recent rows.
  await until(`no job ${job.name} is left of before`, left, isEmpty);
  await db.query(sql`delete from schedules where name = ${job.name}`);
  await enqueueDue(db.query, job);
  await until(`the job ${job.name} has been done`, left, isEmpty);
}

/** Deletes a wiki, purges it from the trash of its workspace, and waits until all its rows are deleted. */
export async function deleteForGood(world: World, owner: Owner, wiki_id: string): Promise<void> {
  const trash = `/v1/workspaces/${owner.workspace_id}/deleted-wikis`;
  for (const path of [`/v1/wikis/${wiki_id}`, `${trash}/${wiki_id}`]) {
    const { status, body } = await owner.send('DELETE', path);
    if (status !== 204) throw new Error(`DELETE ${path}: ${JSON.stringify(body)}`);
  }
  await runScheduled(world, removeDeletedWiki);
}
