import { cleanFilename } from '@ibid/documents/filename.ts';
import { newId } from '../../platform/core/ids.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { UploadMode } from './schema.ts';

/** A file as the client named it, whose bytes are there already or were announced. */
interface NewFile {
  filename: string;
  content_type: string;
  byte_size: number;
  /** How many of its bytes are there. */
  received: number;
  /** '' until all bytes are there. */
  sha256: string;
  /** What the client said that the hash will be; '' where it said nothing. */
  expected_sha256: string;
}

/** The row of a new upload's file, under the name that is kept. */
export function fileRow(file: NewFile, file_no: number) {
  return {
    ...file,
    file_no,
    file_id: newId('file'),
    filename: cleanFilename(file.filename),
    content_type: file.content_type.slice(0, 255),
  };
}

/** The steps `upload` and `files`, which write an upload and its files. */
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
    // The column promised_sha256 keeps its name: processes of the previous release write it while this one migrates.
    files: sql`
      insert into upload_files (wiki_id, upload_id, file_no, file_id, filename, content_type, byte_size, received, sha256, promised_sha256)
      select u.wiki_id, u.upload_id, f.file_no, f.file_id, f.filename, f.content_type, f.byte_size, f.received, f.sha256, f.expected_sha256
      from upload u, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as f (file_no int, file_id text, filename text,
        content_type text, byte_size bigint, received bigint, sha256 text, expected_sha256 text)`,
  };
}
