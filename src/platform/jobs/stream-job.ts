import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { Id, pickFields } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { type EventSource, EventStream } from '../http/event-stream.ts';
import { exampleJob, Job, jobColumns } from './schema.ts';

export const streamJob = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/jobs/:job_id/events',
  summary: 'Follow a job',
  description:
    'Server-sent events named "job", each with the Job as its data: first the current state, then each change, until the job ends.',
  access: onWiki('sources:read'),
  params: Type.Object({ wiki_id: Id, job_id: Id }),
  requestHeaders: {
    'Last-Event-ID': 'ID of the last event that the client received. That state is not sent again.',
  },
  reply: EventStream,
  errors: ['rate_limited'],
  example: {
    reply: {
      name: 'job',
      reader: { user_id: 'user_01jd8w3v6xf3e8h2k9m4n5p6q8', workspace_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7' },
      first: exampleJob,
      read: async () => exampleJob,
      isLast: () => true,
      watch: () => () => undefined,
    },
  },
  run: async ({ params, services, one }) => {
    const readRow = () =>
      one<Job & EventSource['reader']>(sql`
        select ${jobColumns}, a.user_id, a.workspace_id from access a, jobs j
        where j.wiki_id = ${params.wiki_id} and j.job_id = ${params.job_id}`);
    const row = await readRow();
    return {
      name: 'job',
      reader: { user_id: row.user_id, workspace_id: row.workspace_id },
      first: pickFields(Job, row),
      read: async () => pickFields(Job, await readRow()),
      isLast: (state) => 'finished_at' in state,
      watch: (onChange) => services.jobChanges.watch(params, onChange),
    };
  },
});
