import { StorageUnavailable } from '../providers/blobs.ts';

/** Every machine-readable code and its status. Codes only grow. */
export const STATUS_OF = {
  invalid_request: 400,
  invalid_identifier: 400,
  invalid_slug: 400,
  invalid_name: 400,
  invalid_title: 400,
  invalid_email: 400,
  invalid_query: 400,
  unknown_role: 400,
  unknown_plan: 400,
  user_required: 400,
  unauthorized: 401,
  forbidden: 403,
  role_not_grantable: 403,
  key_is_workspace_bound: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  slug_taken: 409,
  already_member: 409,
  invitation_pending: 409,
  member_inactive: 409,
  last_owner: 409,
  seat_limit_reached: 409,
  edit_conflict: 409,
  idempotency_in_progress: 409,
  upload_state: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  validation_error: 422,
  rate_limited: 429,
  headers_too_large: 431,
  checksum_mismatch: 460,
  internal_error: 500,
  billing_unavailable: 503,
  email_unavailable: 503,
  storage_unavailable: 503,
  identity_unavailable: 503,
  database_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

/** One thing that is wrong with a request, as Pydantic v2 words it. */
export interface Detail {
  type: string;
  loc: (string | number)[];
  msg: string;
  input: unknown;
  ctx?: Record<string, unknown>;
}

/**
 * What a client is told: a code for its program and a sentence for its developer. `cause` is for the log alone.
 * `detail` is the list of a 422, or the word of the framework-level 404 and 405. `retry_after`: seconds, for 429.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: Detail[] | string | undefined;
  /** Seconds after which trying again has a chance. */
  readonly retry_after: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; detail?: Detail[] | string; retry_after?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = STATUS_OF[code];
    this.detail = options.detail;
    this.retry_after = options.retry_after ?? (this.status === 503 ? 2 : undefined);
  }
}

/** One answer for a credential that is missing, malformed, unknown, revoked or expired: nothing tells them apart. */
export function unauthorized(cause?: unknown): ApiError {
  return new ApiError('unauthorized', 'Send a valid access token or API key: Authorization: Bearer <token>.', {
    cause,
  });
}

export function forbidden(): ApiError {
  return new ApiError('forbidden', 'This credential may not do that here.');
}

export function rateLimited(retry_after: number, what = 'requests'): ApiError {
  return new ApiError('rate_limited', `Too many ${what}. Try again in ${retry_after} seconds.`, { retry_after });
}

export function notFound(what = 'resource'): ApiError {
  return new ApiError('not_found', `There is no such ${what}.`);
}

export function seatLimitReached(cause?: unknown): ApiError {
  return new ApiError('seat_limit_reached', 'All seats are taken. Add seats, or remove a member or an invitation.', {
    cause,
  });
}

export function lastOwner(cause?: unknown): ApiError {
  return new ApiError('last_owner', 'A workspace keeps at least one active owner. Make somebody else an owner first.', {
    cause,
  });
}

/** SQLSTATEs of the database's second line behind the rules that endpoints decide. */
const SECOND_LINE: Record<string, (cause: unknown) => ApiError> = { IBSEA: seatLimitReached, IBOWN: lastOwner };

/** SQLSTATEs and system errors that mean: the database is away for now, try again. */
const AWAY =
  /^(08...|57P0[1-5]|57014|53[0-4]..|25P0[34]|ECONN(REFUSED|RESET|ABORTED)|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;

/** Refusals of `refuse(status)`, which fails a writing statement. */
const REFUSED = /^IB(401|403|404)$/;

/** Any thrown value as what the client is told; the cause goes on to the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = readCode(error);
  const refused = REFUSED.exec(code);
  if (refused) return refused[1] === '401' ? unauthorized() : refused[1] === '403' ? forbidden() : notFound();
  if (error instanceof StorageUnavailable) return storageUnavailable(error);
  const kept = SECOND_LINE[code];
  if (kept) return kept(error);
  if (code === '53100') {
    return new ApiError('storage_unavailable', 'The disk of the service is full. Try again later.', { cause: error });
  }
  if (AWAY.test(code) || isLostConnection(error)) {
    return new ApiError('database_unavailable', 'The database does not answer just now. Try again in a moment.', {
      cause: error,
    });
  }
  return fromFramework(code, error);
}

function readCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** The driver gives these no code. */
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
      return new ApiError('payload_too_large', 'The body is larger than this endpoint takes.', { cause });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return unsupportedMediaType(cause);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('invalid_request', 'The body does not have the length that Content-Length states.', {
        cause,
      });
    case 'FST_ERR_BAD_URL':
      return new ApiError('invalid_request', 'The path is not valid percent-encoded UTF-8.', { cause });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError('uri_too_long', 'A segment of the path is too long.', { cause });
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return new ApiError('invalid_request', 'The connection closed before the body was complete.', { cause });
    default:
      return new ApiError('internal_error', 'Something went wrong on our side; quote request_id when you report it.', {
        cause,
      });
  }
}

/** What the file store throws when it cannot work, with a file system's codes too, as 503; any other error as it is. */
export function toStorageError(error: unknown): unknown {
  const isAway = /^(ENOSPC|EDQUOT|EIO|EROFS|EACCES|EMFILE|ENOENT)$/.test(readCode(error));
  if (error instanceof StorageUnavailable || isAway) return storageUnavailable(error);
  return error;
}

function storageUnavailable(cause: unknown): ApiError {
  return new ApiError('storage_unavailable', 'The file store cannot do that just now. Try again later.', { cause });
}

export function unsupportedMediaType(cause?: unknown, wanted = 'application/json'): ApiError {
  return new ApiError('unsupported_media_type', `Send the body as Content-Type: ${wanted}.`, { cause });
}
