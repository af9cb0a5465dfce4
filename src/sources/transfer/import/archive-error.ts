/**
 * Thrown if an archive cannot be imported. Code and message become the error of the job, so the message says what to
 * do.
 */
export class ArchiveError extends Error {
  readonly code: 'invalid_archive' | 'archive_too_large' | 'conflict' | 'forbidden';

  constructor(code: ArchiveError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function invalid(message: string, cause?: unknown): ArchiveError {
  return new ArchiveError('invalid_archive', message, { cause });
}
