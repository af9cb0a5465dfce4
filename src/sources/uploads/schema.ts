import { type Static, Type } from 'typebox';
import { Id, Record, Text, Timestamp } from '../../platform/core/records.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

/** add: new files in addition to existing ones. sync: all files of a folder, so that missing files count as gone. */
export const UploadMode = Type.Enum(['add', 'sync']);
export const MODE =
  'sync: the upload contains all files of its folder. Renamed files keep their pages, which move with them. Pages of missing files become stale and are named in the summary. Uploads of a wiki are processed one after another; the sync processed last determines the state of the wiki, even if another sync was announced later.';
export type UploadMode = Static<typeof UploadMode>;

export const Upload = Record(
  {
    upload_id: Id,
    wiki_id: Id,
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Type.Optional(Timestamp),
    source_count: Type.Integer({ description: 'Number of sources made from the upload.' }),
    status: Type.Enum(['uploading', 'queued', 'completed', 'failed']),
    status_label: Type.Enum(['ready', 'running', 'failed', 'unknown'], {
      description: '"unknown" while the worker does not respond and no other worker has taken over.',
    }),
    summary: Text,
    error: Text,
  },
  { title: 'Upload' },
);
export type Upload = Static<typeof Upload>;

export const FileOfUpload = Record(
  {
    file_id: Type.String({ default: '', description: 'The id to send its bytes with; "" for a file from an archive.' }),
    filename: Type.String(),
    byte_size: Type.Integer(),
    received: Type.Integer({ description: 'Number of bytes received.' }),
    status: Type.Enum(['pending', 'done', 'failed'], { description: 'pending: not processed yet.' }),
    error: Text,
    source_id: Type.String({ default: '', description: 'The source made from the file; "" if there is no source.' }),
    page_path: Type.String({
      default: '',
      description:
        'Path of its page; "" without a page, and for a draft or a page in the trash that the caller may not see.',
    }),
    page_change: Type.Enum(['', 'new', 'updated', 'merged', 'same', 'kept'], {
      description:
        'What happened to its page. merged: it combines manual edits with the new text of the file. kept: both had changed the same places, so the page stays unchanged and is now stale.',
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
