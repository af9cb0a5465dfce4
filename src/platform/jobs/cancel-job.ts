import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { ApiError, notFound } from '../core/errors.ts';
import { Id, withoutNulls } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { cancelJobs, failFiles, failUpload } from './cancel-ctes.ts';
import { exampleJob, Job, jobColumns } from './schema.ts';

/** Cancels a job and fails its upload. Retrying the upload creates a new job. */
export const cancelJob = endpoint({
  method: 'POST',
  path: '/v1/wikis/:wiki_id/jobs/:job_id/cancel',
  summary: 'Cancel a job',
  description: 'Results that the job has produced stay. Its upload fails, and can be retried.',
  access: onWiki('uploads:create'),
  whenUnpaid: true,
  event: 'job.cancelled',
  params: Type.Object({ wiki_id: Id, job_id: Id }),
  reply: Job,
  errors: ['conflict'],
  example: { reply: { ...exampleJob, status: 'cancelled', error: 'cancelled: the job was cancelled', summary: '' } },
  run: async ({ params, many, maybeOne }) => {
    const { wiki_id, job_id } = params;
    const ofJob = sql`j.wiki_id = ${wiki_id} and j.job_id = ${job_id}`;
    const [cancelled] = await many<Job>({
      before: sql`
        select j.job_id, j.status, j.error, j.updated_at, j.finished_at
        from jobs j join access on access.wiki_id = j.wiki_id where ${ofJob} and j.finished_at is null`,
      stopped: cancelJobs(sql`before`, sql`${ofJob} and j.job_id = before.job_id`),
      upload: failUpload(wiki_id, sql`stopped`, sql`select count(*) from stopped`),
      files: failFiles(wiki_id),
      after: sql`select j.job_id, j.status, j.error, j.updated_at, j.finished_at from stopped j`,
      result: sql`select ${jobColumns} from stopped j`,
    });
    if (cancelled) return withoutNulls(cancelled);
    if (!(await maybeOne(sql`select 1 from jobs j where ${ofJob}`))) throw notFound();
    throw new ApiError('conflict', 'The job has already ended.');
  },
});
