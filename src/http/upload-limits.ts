import { ApiError } from '../core/errors.ts';
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
