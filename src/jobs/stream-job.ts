import { Type } from 'typebox';
import { onWiki } from '../access/access-rule.ts';
import { Id, pickFields } from '../core/records.ts';
import { sql } from '../db/sql.ts';
import { endpoint } from '../http/endpoint.ts';
import { EventStream } from '../http/event-stream.ts';
import { exampleJob, Job, jobColumns } from './schema.ts';

export const streamJob = endpoint({
  method: 'GET',
  path: '/v1/wikis/:wiki_id/jobs/:job_id/events',
  summary: 'Follow a job',
  description:
    'Server-sent events named "job", each with the Job as its data: the current state, then each change, until the job has ended.',
  access: onWiki('sources:read'),
  params: Type.Object({ wiki_id: Id, job_id: Id }),
  requestHeaders: {
    'Last-Event-ID': 'The id of the last event that the client received; the same state is not sent again.',
  },
  reply: EventStream,
  errors: ['rate_limited'],
  example: {
    reply: {
      name: 'job',
      first: exampleJob,
      read: async () => exampleJob,
      isLast: () => true,
      watch: () => () => undefined,
    },
  },
  run: async ({ params, services, one }) => {
    const read = async () =>
      pickFields(
        Job,
        await one<Job>(sql`
          select ${jobColumns} from jobs j where j.wiki_id = ${params.wiki_id} and j.job_id = ${params.job_id}`),
      );
    return {
      name: 'job',
      first: await read(),
      read,
      isLast: (state) => 'finished_at' in state,
      watch: (onChange) => services.jobChanges.watch(params, onChange),
    };
  },
});
