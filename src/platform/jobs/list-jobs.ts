import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { PAGING } from '../core/paging.ts';
import { InputText, WikiParams, withoutNulls } from '../core/records.ts';
import { raw, sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { exampleJob, JOB_STATUSES, Job, jobColumns } from './schema.ts';

export const listJobs = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/jobs',
  summary: 'List jobs',
  access: onWiki('sources:read'),
  params: WikiParams,
  query: Type.Object({
    upload_id: Type.Optional(InputText({ description: 'Only jobs of this upload.' })),
    status: Type.Optional(Type.Enum([...JOB_STATUSES], { description: 'Only jobs with this status.' })),
    ...PAGING,
  }),
  paging: { keys: { 'j.job_id': 'text' } },
  reply: Type.Array(Job),
  example: { reply: [exampleJob] },
  run: async ({ params, query, paging, many }) => {
    const jobs = await many<Job>(sql`
      select ${jobColumns} from jobs j where j.wiki_id = ${params.wiki_id}
        ${query.upload_id === undefined ? raw('') : sql`and j.upload_id = ${query.upload_id}`}
        ${query.status === undefined ? raw('') : sql`and j.status = ${query.status}`}
      ${paging.clause}
    `);
    return jobs.map(withoutNulls);
  },
});
