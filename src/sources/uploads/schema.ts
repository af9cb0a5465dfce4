import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** add: new files in addition to existing ones. sync: all files of a folder, so that missing files count as gone. */
export const UploadMode = Type.Enum(['add', 'sync']);
export const MODE =
  'sync: the upload has all files of its folder. Files that have another name now keep their pages, which move with them; pages of files that are gone become stale and are named in the summary. Uploads of a wiki are worked on one after the other: the latest sync is what the wiki has, also where another one was announced later.';
export type UploadMode = Static<typeof UploadMode>;

export const Upload = Record(
  {
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
  },
  { title: 'Upload' },
);
export type Upload = Static<typeof Upload>;

export const FileOfUpload = Record(
  {
    file_id: Type.String({ default: '', description: 'By which its bytes are sent; "" for one that an archive held.' }),
    filename: Type.String(),
    byte_size: Type.Integer(),
    received: Type.Integer({ description: 'How many of its bytes are there.' }),
    status: Type.Enum(['pending', 'done', 'failed'], { description: 'pending: it was not yet worked on.' }),
    error: Text,
    source_id: Type.String({ default: '', description: 'What it is as a source; "" for none.' }),
    page_path: Type.String({
      default: '',
      description:
        'Where its page was made; "" for none, and for a draft or a page in the trash that the caller may not see.',
    }),
    page_change: Type.Enum(['', 'new', 'updated', 'merged', 'same', 'kept'], {
      description:
        'What happened to its page. merged: it has what people wrote and what the file says now. kept: both had changed the same places, so it was left as it was and is stale now.',
    }),
  },
  { title: 'FileOfUpload' },
);
export type FileOfUpload = Static<typeof FileOfUpload>;

/**
 * Selects the columns of Upload from an upload `u`. `offset 0` makes PostgreSQL look up its job instead of hashing all
 * jobs.
 */
export const uploadColumns: Sql = sql`
  u.upload_id, u.wiki_id, u.created_at, u.updated_at, u.finished_at, u.source_count, u.status, u.summary, u.error,
  case u.status when 'completed' then 'ready' when 'failed' then 'failed'
    else case when exists (
      select from jobs j where j.wiki_id = u.wiki_id and j.upload_id = u.upload_id and j.status = 'running'
        and not exists (select from workers w where w.worker_id = j.worker_id and w.alive_until > now())
      offset 0) then 'unknown' else 'running' end
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
