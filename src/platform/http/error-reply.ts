import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { requireCaller } from '../access/guard.ts';
import { clientAddress } from '../access/network.ts';
import type { ApiError } from '../core/errors.ts';
import type { ServiceDb } from '../db/db.ts';
import { HEADERS } from './answer-headers.ts';
import { toApiError } from './to-api-error.ts';

/**
 * Checks the credential before reporting an invalid body or query, so that a caller without a valid credential learns
 * nothing else. Costs a statement, on the failing path only.
 */
export async function afterCallerCheck(error: ApiError, request: FastifyRequest, db: ServiceDb): Promise<ApiError> {
  const isRequestError = error.status === 400 || error.status === 413 || error.status === 415 || error.status === 422;
  if (!isRequestError || request.callerKnown || !request.routeOptions.config.endpoint) return error;
  if (!request.credential) return error;
  try {
    await requireCaller(db, request.credential);
    return error;
  } catch (refusal) {
    return toApiError(refusal);
  }
}

/** Returns the refused caller for the log. Looked up only for refusals, to keep successful requests fast. */
export async function actorOf({ status }: ApiError, request: FastifyRequest, db: ServiceDb): Promise<object> {
  if (!request.credential || (status !== 403 && status !== 404)) return {};
  try {
    const caller = await requireCaller(db, request.credential);
    if (!caller) return {};
    return { actor_id: caller.user_id, credential_kind: request.credential.kind, credential_id: caller.credential_id };
  } catch {
    // The caller is only additional information; answer and log the refusal without it.
    return {};
  }
}

/** Returns how many bytes of the request's body may still arrive. */
function unreadBytes({ body, headers }: FastifyRequest): number {
  if (body !== undefined && !(body instanceof Readable && !body.readableEnded)) return 0;
  return Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : Infinity));
}

/** Maximum length of an error message, in characters; messages may quote the request. */
const MESSAGE_MAX = 1_000;

/** Sends an error in the common envelope and logs it. `actor`: the refused caller, if known. */
export function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: ApiError,
  log: Logger,
  actor: object = {},
) {
  const { code, message, detail, status, retry_after, logged } = error;
  const request_id = request.id;
  request.errorCode = code;
  // The path of the route, because client input in the URL must not be logged.
  const endpoint = `${request.method} ${request.routeOptions?.url ?? ''}`.trimEnd();
  const line = { request_id, endpoint, status, code, address: clientAddress(request), ...logged, ...actor };
  if (status >= 500) log.error({ ...line, err: error.cause ?? error }, message);
  else if (status === 401 || status === 403) log.warn(line, message);
  else log.info(line, message);
  if (!reply.hasHeader('x-request-id')) reply.headers(HEADERS).header('x-request-id', request_id);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (retry_after !== undefined) reply.header('retry-after', retry_after);
  // The rest of a refused body is not read, so the connection has to be closed.
  if (status === 413 || unreadBytes(request) > 65_536) {
    reply.header('connection', 'close');
  }
  const body = {
    ...(detail !== undefined && { detail }),
    error: code,
    message: message.slice(0, MESSAGE_MAX),
    request_id,
  };
  return reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body);
}

/** Sends an error instead of a handler that has not responded; its later response is dropped. */
export function sendErrorInstead(request: FastifyRequest, reply: FastifyReply, error: ApiError, log: Logger): void {
  const { code, message, status, retry_after } = error;
  const request_id = request.id;
  log.warn(
    { request_id, endpoint: `${request.method} ${request.routeOptions?.url ?? ''}`.trimEnd(), status, code },
    message,
  );
  reply.hijack();
  reply.raw.writeHead(status, {
    ...HEADERS,
    'x-request-id': request_id,
    'content-type': 'application/json; charset=utf-8',
    'retry-after': String(retry_after ?? 2),
    connection: 'close',
  });
  reply.raw.end(JSON.stringify({ error: code, message, request_id }));
}
