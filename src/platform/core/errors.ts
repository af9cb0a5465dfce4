/** All machine-readable codes with their HTTP status. Codes are never removed. */
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
  invalid_signature: 400,
  foreign_event: 400,
  unauthorized: 401,
  payment_required: 402,
  payment_declined: 402,
  forbidden: 403,
  role_not_grantable: 403,
  key_is_workspace_bound: 403,
  recent_sign_in_required: 403,
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
  quota_exceeded: 409,
  legal_hold: 409,
  workspace_not_empty: 409,
  preview_changed: 409,
  already_subscribed: 409,
  not_subscribed: 409,
  billing_by_operator: 409,
  customer_missing: 409,
  currency_mismatch: 409,
  quantity_too_large: 409,
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
  plan_unpriced: 503,
  email_unavailable: 503,
  storage_unavailable: 503,
  identity_unavailable: 503,
  database_unavailable: 503,
  overloaded: 503,
  time_limit_exceeded: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

/** One validation error of a request, in the format of Pydantic v2. */
export interface Detail {
  type: string;
  loc: (string | number)[];
  msg: string;
  input: unknown;
  ctx?: Record<string, unknown>;
}

/**
 * An error response: a code for programs and a message for developers. `cause` and `logged` (fields of the log line)
 * are logged but not sent. `detail` is the list of a 422, or the text of a framework-level 404 or 405. `retry_after` is
 * in seconds, for 429 and 503.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: Detail[] | string | undefined;
  /** Seconds until a retry may succeed. */
  readonly retry_after: number | undefined;
  readonly logged: object;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; detail?: Detail[] | string; retry_after?: number; logged?: object } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = STATUS_OF[code];
    this.detail = options.detail;
    this.logged = options.logged ?? {};
    this.retry_after = options.retry_after ?? (this.status === 503 ? 2 : undefined);
  }
}

/**
 * The same response for a missing, malformed, unknown, revoked or expired credential, so that clients cannot tell them
 * apart.
 */
export function unauthorized(cause?: unknown): ApiError {
  return new ApiError('unauthorized', 'Send a valid access token or API key: Authorization: Bearer <token>.', {
    cause,
  });
}

/** The message of the guard when it refuses a role or a limited key. Every other 403 has its own message. */
export const NOT_ALLOWED = 'This credential may not do that here.';

export function forbidden(): ApiError {
  return new ApiError('forbidden', NOT_ALLOWED);
}

/** 503 for a request that was refused because a queue or pool is full. */
export function overloaded(): ApiError {
  return new ApiError('overloaded', 'The service is overloaded. Try again in a moment.');
}

export function rateLimited(retry_after: number, what = 'requests'): ApiError {
  return new ApiError('rate_limited', `Too many ${what}. Try again in ${retry_after} seconds.`, { retry_after });
}

/**
 * 503 for a request aborted by the shutdown of this process. A retry is served by another process, or by this one after
 * its restart.
 */
export function stopping(): ApiError {
  return new ApiError('overloaded', 'The service is restarting. Try again in a moment.');
}

export function notFound(what = 'resource'): ApiError {
  return new ApiError('not_found', `There is no such ${what}.`);
}

/** For SQLSTATE IBHLD, which a trigger raises to refuse a deletion. */
export function legalHold(cause?: unknown): ApiError {
  return new ApiError(
    'legal_hold',
    'The workspace is under a legal hold: nothing can be permanently deleted until an owner lifts the hold in the settings.',
    { cause },
  );
}

export function seatLimitReached(cause?: unknown): ApiError {
  return new ApiError('seat_limit_reached', 'All seats are taken. Add seats, or remove a member or an invitation.', {
    cause,
  });
}

export function paymentRequired(): ApiError {
  return new ApiError(
    'payment_required',
    'The workspace is read-only because its invoice was not paid. Pay the invoice on the plan page to make it writable again.',
  );
}

export function lastOwner(cause?: unknown): ApiError {
  return new ApiError(
    'last_owner',
    'A workspace needs at least one active owner. Make another member an owner first.',
    {
      cause,
    },
  );
}

export function unsupportedMediaType(cause?: unknown, expected = 'application/json'): ApiError {
  return new ApiError('unsupported_media_type', `Send the body as Content-Type: ${expected}.`, { cause });
}

export function validationError(detail: Detail[]): ApiError {
  const first = detail[0];
  const where = first ? `${first.loc.join('.')}: ${first.msg}` : 'The request does not match its schema.';
  return new ApiError('validation_error', where, { detail });
}
