import { onWiki } from '../../../platform/access/access-rule.ts';
import { newId } from '../../../platform/core/ids.ts';
import { WikiParams, withoutNulls } from '../../../platform/core/records.ts';
import { sql } from '../../../platform/db/sql.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { jobRecord } from '../../../platform/jobs/record-queue.ts';
import { exampleJob, Job, jobColumns } from '../../../platform/jobs/schema.ts';

export const createExport = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/exports',
  summary: 'Export a wiki',
  description:
    'Starts a job that writes a ZIP archive of the wiki as of the start of the job: pages as Markdown files, ' +
    'attachments and the whole history. When the job has completed, `…/exports/{job_id}/content` offers the archive for seven days.',
  access: onWiki('wikis:export'),
  whenUnpaid: true,
  canWait: true,
  event: 'export.created',
  limit: 'uploads',
  params: WikiParams,
  status: 201,
  reply: Job,
  errors: ['quota_exceeded'],
  example: { reply: queuedJob('export') },
  run: async ({ params: { wiki_id }, one, later }) => {
    const job_id = newId('job');
    const made = await one<Job>({
      j: later(jobRecord, { wiki_id, job_id, upload_id: null, kind: 'export' }),
      export: sql`
        insert into exports (wiki_id, export_id, created_by, filename)
        select w.wiki_id, ${job_id}, a.user_id, w.slug || '.zip' from access a join wikis w on w.wiki_id = a.wiki_id`,
      result: sql`select ${jobColumns} from j`,
    });
    return withoutNulls(made);
  },
});

/** Returns a new job, for examples of the API. */
export function queuedJob(kind: Job['kind']): Job {
  const { started_at, finished_at, ...job } = exampleJob;
  return { ...job, upload_id: '', kind, status: 'queued', attempt: 0, progress: 0, summary: '' };
}
