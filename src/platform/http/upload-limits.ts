import { ApiError } from '../core/errors.ts';
import { quotaExceeded } from '../core/quotas.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Limits } from './services.ts';

/** Errors of uploads that exceed a limit, whether their files are sent or announced. */

export function tooManyFiles({ upload_files }: Limits): ApiError {
  return tooLarge(`One request accepts at most ${upload_files} file(s). Send the rest in further requests.`);
}

export function fileTooLarge(filename: string, { file_bytes }: Limits): ApiError {
  return tooLarge(`"${filename.slice(0, 100)}" is larger than the limit of ${mebibytes(file_bytes)} for a file.`);
}

export function uploadTooLarge({ upload_bytes }: Limits): ApiError {
  return tooLarge(`An upload may have at most ${mebibytes(upload_bytes)}.`);
}

function tooLarge(message: string): ApiError {
  return new ApiError('payload_too_large', message);
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** Bytes that a workspace stores and may store; null means unlimited. */
export interface StorageUse {
  used: number;
  allowed: number | null;
}

/** Returns a statement for the StorageUse of a workspace that the request may see. */
export function storageOf(workspace_id: Sql): Sql {
  return sql`select u.used, u.allowed from usage_of(${workspace_id}) u where u.name = 'bytes'`;
}

/**
 * Throws 409 `quota_exceeded` if a workspace has no room for `more` bytes. Checked before they are received and before
 * they are kept; the write that refers to them checks again, under a lock.
 */
export function refuseStorage({ used, allowed }: StorageUse, more: number): void {
  if (allowed !== null && used + more > allowed) throw quotaExceeded({ name: 'bytes', used: used + more, allowed });
}

/** Returns whether other requests could use up the room for `more` bytes before they are received. */
export function isNearLimit({ used, allowed }: StorageUse, more: number): boolean {
  return allowed !== null && used + more > allowed - allowed / 10;
}
