import {
  ApiError,
  forbidden,
  lastOwner,
  legalHold,
  notFound,
  paymentRequired,
  seatLimitReached,
  unauthorized,
  unsupportedMediaType,
} from '../core/errors.ts';
import { quotaErrorOf } from '../core/quotas.ts';
import { StorageUnavailable } from '../providers/storage/blobs.ts';

/** SQLSTATEs of constraints that enforce rules which endpoints check first. */
const CONSTRAINT_ERRORS: Record<string, (cause: unknown) => ApiError> = {
  IBSEA: seatLimitReached,
  IBOWN: lastOwner,
  IBQUO: quotaErrorOf,
  IBHLD: legalHold,
};

/** SQLSTATEs and system errors that mean that the database is temporarily unavailable. */
const CONNECTION_ERRORS =
  /^(08...|57P0[1-5]|53[0-4]..|25P0[34]|25006|ECONN(REFUSED|RESET|ABORTED)|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;

/** The SQLSTATE of a statement that exceeded its timeout. */
const QUERY_CANCELED = '57014';

/** The SQLSTATE of a row that refers to a missing row. */
const FOREIGN_KEY_VIOLATION = '23503';

/** The SQLSTATE of a row whose key already exists. */
const UNIQUE_VIOLATION = '23505';

/**
 * SQLSTATEs of transactions that PostgreSQL rolled back because of another: serialization_failure, deadlock_detected.
 */
const CONFLICT_ERRORS = /^40(001|P01)$/;

/** SQLSTATEs of `refuse(status)`, a database function that fails a writing statement. */
const REFUSED: Record<string, () => ApiError> = {
  IB401: unauthorized,
  IB402: paymentRequired,
  IB403: forbidden,
  IB404: () => notFound(),
};

/** Converts any thrown value to the error for the client; its cause goes to the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = readCode(error);
  const refused = REFUSED[code];
  if (refused) return refused();
  if (error instanceof StorageUnavailable) return storageUnavailable(error);
  const kept = CONSTRAINT_ERRORS[code];
  if (kept) return kept(error);
  if (code === '53100') {
    return new ApiError('storage_unavailable', 'The disk of the service is full. Try again later.', { cause: error });
  }
  // The user was deleted, with their credentials, between the check of the credential and the write.
  if (code === FOREIGN_KEY_VIOLATION && /_user_id_fkey$/.test(readConstraint(error))) return unauthorized(error);
  if (code === UNIQUE_VIOLATION && readConstraint(error) === 'workspaces_slug_key') {
    return new ApiError('slug_taken', 'Another workspace took this slug a moment ago. Choose another.', {
      cause: error,
    });
  }
  if (CONFLICT_ERRORS.test(code)) {
    return new ApiError('database_unavailable', 'Another request changed the same data. Try again in a moment.', {
      cause: error,
    });
  }
  if (code === QUERY_CANCELED) {
    const message = 'The request took too long. Request less at once, or try again in a moment.';
    return new ApiError('time_limit_exceeded', message, { cause: error });
  }
  if (isOfBody(code, error)) {
    return new ApiError('invalid_request', 'The connection closed before the body was complete.', { cause: error });
  }
  if (CONNECTION_ERRORS.test(code) || isLostConnection(error)) {
    return new ApiError('database_unavailable', 'The database is not responding. Try again in a moment.', {
      cause: error,
    });
  }
  return fromFramework(code, error);
}

function readCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

function readConstraint(error: unknown): string {
  return typeof error === 'object' && error !== null && 'constraint' in error ? String(error.constraint) : '';
}

/**
 * Returns whether the client disconnected while sending its body. Node.js documents this code and message; errors of a
 * lost database name a system call.
 */
function isOfBody(code: string, error: unknown): boolean {
  const isReset = code === 'ECONNRESET' && error instanceof Error && error.message === 'aborted';
  return isReset || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Recognized by message, because the driver gives these errors no code. */
function isLostConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered)/.test(
      error.message,
    )
  );
}

function fromFramework(code: string, cause: unknown): ApiError {
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('payload_too_large', 'The body is larger than this endpoint accepts.', { cause });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return unsupportedMediaType(cause);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('invalid_request', 'The length of the body differs from Content-Length.', {
        cause,
      });
    case 'FST_ERR_BAD_URL':
      return new ApiError('invalid_request', 'The path is not valid percent-encoded UTF-8.', { cause });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError('uri_too_long', 'A segment of the path is too long.', { cause });
    default:
      return new ApiError('internal_error', 'Something went wrong on our side. Quote request_id when you report it.', {
        cause,
      });
  }
}

/** Converts errors of a failing file store, including file system codes, to 503. Returns any other error unchanged. */
export function toStorageError(error: unknown): unknown {
  const isAway = /^(ENOSPC|EDQUOT|EIO|EROFS|EACCES|EMFILE|ENOENT)$/.test(readCode(error));
  if (error instanceof StorageUnavailable || isAway) return storageUnavailable(error);
  return error;
}

function storageUnavailable(cause: unknown): ApiError {
  return new ApiError('storage_unavailable', 'The file store is not responding. Try again later.', { cause });
}
