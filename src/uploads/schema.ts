import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../core/records.ts';
import { type Sql, sql } from '../db/sql.ts';

export const Upload = Record({
  upload_id: Id,
  wiki_id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  finished_at: Type.Optional(Timestamp),
  source_count: Type.Integer({ description: 'Sources that the upload made.' }),
  status: Type.Enum(['uploading', 'queued', 'completed', 'failed']),
  status_label: Type.Enum(['ready', 'running', 'failed', 'unknown'], {
    description: '"unknown" while the worker has not been heard of and the work was not yet taken over.',
  }),
  summary: Text,
  error: Text,
});
export type Upload = Static<typeof Upload>;

/** The columns of Upload from an upload `u`. */
export const uploadColumns: Sql = sql`
  u.upload_id, u.wiki_id, u.created_at, u.updated_at, u.finished_at, u.source_count, u.status, u.summary, u.error,
  case u.status when 'completed' then 'ready' when 'failed' then 'failed'
    else case when exists (
      select from jobs j where j.wiki_id = u.wiki_id and j.upload_id = u.upload_id and j.status = 'running'
        and not exists (select from workers w where w.worker_id = j.worker_id and w.alive_until > now())) then 'unknown' else 'running' end
  end as status_label`;

export const exampleUpload: Upload = {
  upload_id: 'upload_01jd8w3v6xf3e8h2k9m4n5p6u1',
  wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9',
  created_at: '2026-11-21T05:29:32.104Z',
  updated_at: '2026-11-21T05:29:33.104Z',
  finished_at: '2026-11-21T05:29:33.104Z',
  source_count: 1,
  status: 'completed',
  status_label: 'ready',
  summary: '1 file: 1 new source, 1 new page.',
  error: '',
};
