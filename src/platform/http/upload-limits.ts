import { ApiError } from '../core/errors.ts';
import { quotaExceeded } from '../core/quotas.ts';
import { type Sql, sql } from '../db/sql.ts';
import type { Limits } from './services.ts';

/** The refusals of uploads that exceed a limit, whether their files are sent or announced. */

export function tooManyFiles({ upload_files }: Limits): ApiError {
  return tooLarge(`One request takes at most ${upload_files} file(s); send the rest in others.`);
}

export function fileTooLarge(filename: string, { file_bytes }: Limits): ApiError {
  return tooLarge(`"${filename.slice(0, 100)}" is larger than the ${mebibytes(file_bytes)} that a file may have.`);
}

export function uploadTooLarge({ upload_bytes }: Limits): ApiError {
  return tooLarge(`An upload is at most ${mebibytes(upload_bytes)}.`);
}

function tooLarge(message: string): ApiError {
  return new ApiError('payload_too_large', message);
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** How many bytes a workspace stores and may store; null: any number. */
export interface StorageUse {
  used: number;
  allowed: number | null;
}

/** The StorageUse of a workspace that the request sees, as a statement. */
export function storageOf(workspace_id: Sql): Sql {
  return sql`select u.used, u.allowed from usage_of(${workspace_id}) u where u.name = 'bytes'`;
}

/**
 * 409 `quota_exceeded` where a workspace has no room for more bytes: before they are received or kept. The write that refers to
 * them decides again, under a lock.
 */
export function refuseStorage({ used, allowed }: StorageUse, more: number): void {
  if (allowed !== null && used + more > allowed) throw quotaExceeded({ name: 'bytes', used: used + more, allowed });
}

/** Whether the room for more bytes may be gone by the time they are received. */
export function isNearLimit({ used, allowed }: StorageUse, more: number): boolean {
  return allowed !== null && used + more > allowed - allowed / 10;
}
