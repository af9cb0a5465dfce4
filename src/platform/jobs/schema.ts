import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../core/records.ts';
import { type Sql, sql } from '../db/sql.ts';

export const JOB_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

export const Job = Record(
  {
    job_id: Id,
    wiki_id: Id,
    upload_id: Type.String({ default: '', description: '"" if the job has no upload.' }),
    kind: Type.Enum(['ingest', 'compile', 'import', 'export', 'reindex']),
    status: Type.Enum([...JOB_STATUSES]),
    attempt: Type.Integer({ description: 'How many times the job was started.' }),
    progress: Type.Integer({ description: 'Percent, 0 to 100.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    started_at: Type.Optional(Timestamp),
    finished_at: Type.Optional(Timestamp),
    summary: Text,
    error: Text,
  },
  { title: 'Job' },
);
export type Job = Static<typeof Job>;

/** The columns of Job, from a row `j` of the table jobs. */
export const jobColumns: Sql = sql`
  j.job_id, j.wiki_id, coalesce(j.upload_id, '') as upload_id, j.kind, j.status, j.attempt, j.progress, j.created_at,
  j.updated_at, j.started_at, j.finished_at, j.summary, j.error`;

export const exampleJob: Job = {
  job_id: 'job_01jd8w3v6xf3e8h2k9m4n5p6v1',
  wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9',
  upload_id: 'upload_01jd8w3v6xf3e8h2k9m4n5p6u1',
  kind: 'ingest',
  status: 'completed',
  attempt: 1,
  progress: 100,
  created_at: '2026-11-21T05:29:32.104Z',
  updated_at: '2026-11-21T05:29:33.104Z',
  started_at: '2026-11-21T05:29:32.150Z',
  finished_at: '2026-11-21T05:29:33.104Z',
  summary: '1 file: 1 new source, 1 new page.',
  error: '',
};
