import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { Id, withoutNulls } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleJob, Job, jobColumns } from './schema.ts';

export const getJob = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/jobs/:job_id',
  summary: 'Get a job',
  access: onWiki('sources:read'),
  params: Type.Object({ wiki_id: Id, job_id: Id }),
  reply: Job,
  example: { reply: exampleJob },
  run: async ({ params, one }) => {
    const job = await one<Job>(sql`
      select ${jobColumns} from jobs j where j.wiki_id = ${params.wiki_id} and j.job_id = ${params.job_id}
    `);
    return withoutNulls(job);
  },
});
