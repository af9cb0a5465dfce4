import { type ErrorCode, STATUS_OF } from '../../core/errors.ts';
import { linksTo, meaningOf } from './error-codes.ts';

const request_id = 'req_01jd8w3v6xf3e8h2k9m4n5p6w1';

/** Error responses by status, each with an example code. */
const REASONS: Record<number, { description: string; message: string; code: ErrorCode }> = {
  400: {
    description: 'An identifier, the query or the body is invalid.',
    code: 'invalid_request',
    message: 'The body is not valid JSON.',
  },
  401: {
    description: 'The credential is missing, expired or invalid.',
    code: 'unauthorized',
    message: 'Send a valid access token or API key: Authorization: Bearer <token>.',
  },
  402: {
    description: 'An invoice must be paid first.',
    code: 'payment_required',
    message: 'The workspace is read-only because its invoice was not paid.',
  },
  403: {
    description: 'The caller is not allowed to do this.',
    code: 'forbidden',
    message: 'This credential may not do that here.',
  },
  404: {
    description: 'The resource does not exist, or the caller may not see it.',
    code: 'not_found',
    message: 'There is no such resource.',
  },
  409: {
    description: 'The write conflicts with the current state.',
    code: 'conflict',
    message: 'This conflicts with the current state.',
  },
  412: {
    description: 'The request uses an unsupported version of the protocol. Tus-Version names the supported version.',
    code: 'precondition_failed',
    message: 'Send Tus-Resumable: 1.0.0.',
  },
  413: {
    description: 'The body is too large.',
    code: 'payload_too_large',
    message: 'The body is larger than this endpoint accepts.',
  },
  415: {
    description: 'The endpoint does not accept the type of the body.',
    code: 'unsupported_media_type',
    message: 'Send the body as Content-Type: application/json.',
  },
  416: {
    description: 'The range is not in the file. Content-Range gives the size of the file.',
    code: 'range_not_satisfiable',
    message: 'The file has 100 bytes, and the range starts after its end.',
  },
  429: {
    description: 'Too many requests. Retry-After gives the seconds to wait.',
    code: 'rate_limited',
    message: 'Too many requests. Try again in 42 seconds.',
  },
  460: {
    description: 'The bytes do not match the checksum, and were discarded.',
    code: 'checksum_mismatch',
    message: 'The bytes do not have the checksum of Upload-Checksum. Send them again.',
  },
  503: {
    description: 'The service or a dependency is temporarily unavailable. Retry-After gives the seconds to wait.',
    code: 'database_unavailable',
    message: 'The database is not responding. Try again in a moment.',
  },
};

const ErrorSchema = {
  type: 'object',
  required: ['error', 'message', 'request_id'],
  properties: {
    error: { type: 'string', description: 'The error code, for programs. New codes may be added.' },
    message: { type: 'string', description: 'For developers.' },
    request_id: { type: 'string', description: 'Identifies the request in a report. Also sent as X-Request-Id.' },
  },
};

const ValidationErrorSchema = {
  type: 'object',
  required: ['loc', 'msg', 'type'],
  properties: {
    loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    msg: { type: 'string' },
    type: { type: 'string' },
    input: {},
    ctx: { type: 'object' },
  },
};

const HttpValidationErrorSchema = {
  type: 'object',
  required: ['detail', 'error', 'message', 'request_id'],
  properties: {
    detail: { type: 'array', items: { $ref: '#/components/schemas/ValidationError' } },
    ...ErrorSchema.properties,
  },
};

/** Headers of every response, if rate limits are enabled. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    description: 'The limits that apply to the request, each with its quota (q) and its window in seconds (w).',
    schema: { type: 'string' },
    example: '"general";q=600;w=60, "search";q=120;w=60',
  },
  RateLimit: {
    description: 'The requests left under each limit (r), and the seconds until its window ends (t).',
    schema: { type: 'string' },
    example: '"general";r=599;t=42, "search";r=119;t=42',
  },
};
/** Header of a list that has more pages. */
export const LINK_HEADER = {
  Link: {
    description: 'The URL of the next page, if there may be one. Follow it unchanged.',
    schema: { type: 'string' },
    example: '</v1/wikis/wiki_01jd8w3v6xf3e8h2k9m4n5p6q9/pages?limit=50&after=WyJ3aWtpcy9wYWdlcyIsIngiXQ>; rel="next"',
  },
};
const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
    example: 42,
  },
};

/** The event in the body, which the payment provider signs. */
export const STRIPE_EVENT = {
  schema: { $ref: '#/components/schemas/StripeEvent' },
  example: { id: 'evt_1Pgc76B7WZ01zgkWwyRHS12y', object: 'event', type: 'invoice.paid' },
};

const StripeEventSchema = { type: 'object', description: 'An event in the format that Stripe documents.' };

/** Returns the components that the operations in `paths` refer to. */
export function sharedComponents(paths: object) {
  return {
    schemas: {
      Error: ErrorSchema,
      HTTPValidationError: HttpValidationErrorSchema,
      ValidationError: ValidationErrorSchema,
      StripeEvent: StripeEventSchema,
    },
    headers: { ...RATE_LIMIT_HEADERS, ...LINK_HEADER, ...RETRY_AFTER },
    responses: sharedResponses(paths),
  };
}

/** Returns references to shared header components. */
export function refs(headers: Record<string, unknown>) {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Error codes that any operation with an error response of this status may return. */
const COMMON: Record<number, readonly ErrorCode[]> = {
  400: ['invalid_request', 'invalid_identifier', 'invalid_query'],
  401: ['unauthorized'],
  402: ['payment_required'],
  403: ['forbidden'],
  404: ['not_found'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  422: ['validation_error'],
  429: ['rate_limited'],
  503: ['database_unavailable', 'overloaded', 'time_limit_exceeded'],
};

/**
 * Returns the response for an error status of an operation that declares these codes. Uses the shared response unless a
 * declared code is missing there.
 */
export function refusal(status: number, declared: readonly ErrorCode[]) {
  const common = COMMON[status] ?? [];
  const own = declared.filter((code) => STATUS_OF[code] === status && !common.includes(code));
  const [first] = own;
  if (first === undefined) return { $ref: `#/components/responses/${status}` };
  return response(status, [...own, ...common], { code: first, message: meaningOf(first) });
}

function json(schema: string, example: unknown) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example } };
}

function response(status: number, codes: readonly ErrorCode[], example?: { code: ErrorCode; message: string }) {
  const reason = REASONS[status] ?? unknownStatus(status);
  const { description } = reason;
  const { code, message } = example ?? reason;
  return {
    description: `${description} ${codes.length === 1 ? 'The code' : 'Codes'}: ${linksTo(codes)}.`,
    headers: refs({ ...RATE_LIMIT_HEADERS, ...((status === 429 || status === 503) && RETRY_AFTER) }),
    content: json('Error', { error: code, message, request_id }),
  };
}

function unknownStatus(status: number): never {
  throw new Error(`REASONS has no description of the status ${status}`);
}

function sharedResponses(paths: object) {
  const text = JSON.stringify(paths);
  const statuses = Object.keys(COMMON).filter((status) => text.includes(`"#/components/responses/${status}"`));
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      status === '422' ? invalid() : response(Number(status), COMMON[Number(status)] ?? []),
    ]),
  );
}

function invalid() {
  const detail = [{ type: 'missing', loc: ['body', 'name'], msg: 'Field required', input: {} }];
  const validation = { detail, error: 'validation_error', message: 'body.name: Field required', request_id };
  return {
    description: `The request does not match its schema. The code: ${linksTo(['validation_error'])}.`,
    headers: refs(RATE_LIMIT_HEADERS),
    content: json('HTTPValidationError', validation),
  };
}
