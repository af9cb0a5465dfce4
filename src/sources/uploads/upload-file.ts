import { Type } from 'typebox';
import { databaseTime } from '../../platform/core/clock.ts';
import { ApiError } from '../../platform/core/errors.ts';
import { Id } from '../../platform/core/records.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';

export const FileParams = Type.Object({ wiki_id: Id, upload_id: Id, file_id: Id });

/** How long an upload waits for its next bytes. */
const WAITS_HOURS = 24;
export const WAITS = raw(`interval '${WAITS_HOURS} hours'`);

/** The error of an upload that waited for longer. */
export const EXPIRED = `expired: no bytes came for ${WAITS_HOURS} hours`;

/** A file of an upload `u` that still takes bytes. */
export const isOpen = sql`(u.status = 'uploading' and u.updated_at > now() - ${WAITS})`;

/** A file `f` that was not yet settled. What an archive held came settled, and folders have no bytes. */
export const isUnsettled = raw("f.kind = 'file' and f.sha256 = ''");

/** An upload `u` of which all files are settled. */
export const isSettled = sql`not exists (
  select from upload_files f where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and ${isUnsettled})`;

/** A file `f` that failed, and whose bytes are kept for another attempt. */
export const hasFailedBytes = raw("f.kind = 'file' and f.status = 'failed' and f.sha256 <> ''");

/** Gives up the bytes of a file: they do not count any more, and the upload cannot be retried. */
export const givenUp = raw("sha256 = '', received = 0");

/** A file of an upload, and how far it is. */
export interface UploadFile {
  file_no: number;
  file_id: string;
  filename: string;
  byte_size: number;
  received: number;
  /** '' until all bytes are there and were checked. */
  sha256: string;
  /** As the client announced it; '' where it did not. */
  expected_sha256: string;
  is_open: boolean;
  upload_error: string;
}

export function fileOf({ wiki_id, upload_id, file_id }: { wiki_id: string; upload_id: string; file_id: string }): Sql {
  return sql`
    select f.file_no, f.file_id, f.filename, f.byte_size, f.received, f.sha256, f.promised_sha256 as expected_sha256, ${isOpen} as is_open,
      case when u.status = 'uploading' and not ${isOpen} then ${EXPIRED} else u.error end
        as upload_error
    from upload_files f join uploads u on u.wiki_id = f.wiki_id and u.upload_id = f.upload_id
    where f.wiki_id = ${wiki_id} and f.upload_id = ${upload_id} and f.file_id = ${file_id}`;
}

/** When a file that took bytes just now is given up, as HTTP writes times. */
export function expiryFromNow(): string {
  return new Date(databaseTime() + WAITS_HOURS * 3_600_000).toUTCString();
}

/** The upload takes no bytes: it failed, or has all that it announced. */
export function takesNoBytes({ upload_error }: Pick<UploadFile, 'upload_error'>): ApiError {
  const why = upload_error.replace(/^\w+: /, '');
  return new ApiError(
    'upload_state',
    why === '' ? 'This upload has all its bytes.' : `This upload has failed (${why}). Make a new one.`,
  );
}
