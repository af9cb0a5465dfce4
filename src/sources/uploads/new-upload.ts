import { cleanFilename } from '@ibid/documents/filename.ts';
import { newId } from '../../platform/core/ids.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { UploadMode } from './schema.ts';

/** A file as the client named it, received or announced. */
interface NewFile {
  filename: string;
  content_type: string;
  byte_size: number;
  received: number;
  /** '' until all bytes have arrived. */
  sha256: string;
  /** The hash that the client announced; '' if it announced none. */
  expected_sha256: string;
}

/** Builds the row of a file of a new upload, with a cleaned filename. */
export function fileRow(file: NewFile, file_no: number) {
  return {
    ...file,
    file_no,
    file_id: newId('file'),
    filename: cleanFilename(file.filename),
    content_type: file.content_type.slice(0, 255),
  };
}

/** Builds the CTEs `upload` and `files`, which insert an upload and its files. */
export function newUpload(
  upload_id: string,
  status: 'queued' | 'uploading',
  rows: readonly ReturnType<typeof fileRow>[],
  mode: UploadMode = 'add',
): { upload: Sql; files: Sql } {
  return {
    upload: sql`
      insert into uploads (wiki_id, upload_id, status, created_by, is_sync)
      select access.wiki_id, ${upload_id}, ${status}, access.user_id, ${mode === 'sync'} from access
      returning *`,
    // The column promised_sha256 keeps its old name, because processes of the previous release still write it during a
    // migration.
    files: sql`
      insert into upload_files (wiki_id, upload_id, file_no, file_id, filename, content_type, byte_size, received, sha256, promised_sha256)
      select u.wiki_id, u.upload_id, f.file_no, f.file_id, f.filename, f.content_type, f.byte_size, f.received, f.sha256, f.expected_sha256
      from upload u, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as f (file_no int, file_id text, filename text,
        content_type text, byte_size bigint, received bigint, sha256 text, expected_sha256 text)`,
  };
}
