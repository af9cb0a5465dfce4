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
export const EXPIRED = `expired: no bytes were received for ${WAITS_HOURS} hours`;

/** Whether an upload `u` still accepts bytes. */
export const isOpen = sql`(u.status = 'uploading' and u.updated_at > now() - ${WAITS})`;

/** Whether a file `f` is not settled yet. Files of archives are inserted as settled, and folders have no bytes. */
export const isUnsettled = raw("f.kind = 'file' and f.sha256 = ''");

export const isSettled = sql`not exists (
  select from upload_files f where f.wiki_id = u.wiki_id and f.upload_id = u.upload_id and ${isUnsettled})`;

/** Whether a file `f` failed and its bytes are kept for a retry. */
export const hasFailedBytes = raw("f.kind = 'file' and f.status = 'failed' and f.sha256 <> ''");

/** Gives up the bytes of a file: they no longer count, and the upload cannot be retried. */
export const givenUp = raw("sha256 = '', received = 0");

export interface UploadFile {
  file_no: number;
  file_id: string;
  filename: string;
  byte_size: number;
  received: number;
  /** '' until all bytes have arrived and been verified. */
  sha256: string;
  /** The hash that the client announced; '' if it announced none. */
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

/** Returns the time, in HTTP format, at which an upload that received bytes now would expire. */
export function expiryFromNow(): string {
  return new Date(databaseTime() + WAITS_HOURS * 3_600_000).toUTCString();
}

/** Returns the error for an upload that accepts no bytes, because it failed or is complete. */
export function closedUploadError({ upload_error }: Pick<UploadFile, 'upload_error'>): ApiError {
  const why = upload_error.replace(/^\w+: /, '');
  return new ApiError(
    'upload_state',
    why === '' ? 'This upload already has all its bytes.' : `This upload has failed (${why}). Create a new upload.`,
  );
}
