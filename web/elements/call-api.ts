import { NOT_ALLOWED } from '../../src/platform/core/errors.ts';

/**
 * Returns the user-facing text for an API error. Only errors whose API message is written for programs are replaced.
 */
function wordsOf({ status, message }: ApiError): string {
  if (status === 401) {
    return 'You are signed out. Sign in again in another tab, then retry here. Nothing you wrote is lost.';
  }
  if (status === 403 && message === NOT_ALLOWED) {
    return 'Your role does not allow this. Ask an owner or an admin of the workspace.';
  }
  return message;
}

const UNREACHABLE = 'The service cannot be reached. Check your connection and try again.';

/**
 * Returns the text for a response that does not come from the API but from a proxy, a firewall or a load balancer in
 * front of the service.
 */
function wordsOfOthers(status: number): string {
  if (status === 413) {
    return 'A proxy or firewall in front of the service rejected the request as too large (413). Ask the operator to raise its limit.';
  }
  // 0: no response. 502 to 504: a proxy could not reach the service.
  if (status === 0 || (status >= 502 && status <= 504)) return UNREACHABLE;
  return `A proxy or firewall in front of the service rejected the request (${status}). Contact the operator.`;
}

/** An error response of the API, or of a proxy in front of it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly request_id: string;
  /** Seconds until the request may succeed, if the service names a time. */
  readonly retry_after: number | undefined;

  constructor(
    status: number,
    body: { error?: string; message?: string; request_id?: string },
    retryAfter: string | null = null,
  ) {
    super(body.message ?? wordsOfOthers(status));
    this.status = status;
    this.code = body.error ?? '';
    this.request_id = body.request_id ?? '';
    this.retry_after = retryAfter === null ? undefined : Number(retryAfter);
  }
}

/** Calls the API with the session cookie. Throws ApiError, with status 0 without a whole response, or an AbortError. */
export async function callApi<T>(
  method: string,
  path: string,
  body?: object,
  signal?: AbortSignal,
  idempotencyKey?: string,
): Promise<T> {
  const { text } = await send(method, path, body, signal, idempotencyKey);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Returns a page of a list, and the path of the next page. Throws ApiError. */
export async function callList<T>(path: string): Promise<{ records: T[]; next: string | undefined }> {
  const { text, link } = await send('GET', path);
  return { records: JSON.parse(text) as T[], next: /^<([^>]*)>; rel="next"$/.exec(link)?.[1] };
}

/** Returns all records of a list. Throws ApiError. */
export async function listAll<T>(path: string): Promise<T[]> {
  const all: T[] = [];
  for (let at: string | undefined = `${path}?limit=500`; at !== undefined; ) {
    const { records, next }: { records: T[]; next: string | undefined } = await callList<T>(at);
    all.push(...records);
    at = next;
  }
  return all;
}

async function send(method: string, path: string, body?: object, signal?: AbortSignal, idempotencyKey?: string) {
  const isForm = body instanceof FormData;
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      // A deletion must complete even if the user leaves the page at that moment.
      keepalive: method === 'DELETE',
      headers: {
        accept: 'application/json',
        ...(body && !isForm && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    // The connection may break before all of the answer has arrived.
    text = await response.text();
  } catch (cause) {
    if ((cause as Error).name === 'AbortError') throw cause;
    throw new ApiError(0, {});
  }
  if (!response.ok) throw new ApiError(response.status, parseErrorBody(text), response.headers.get('retry-after'));
  return { text, link: response.headers.get('link') ?? '' };
}

/** Parses the body of an error response; returns {} if it is not the API's, such as the HTML of a proxy. */
export function parseErrorBody(text: string): { error?: string; message?: string; request_id?: string } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    // Only the status is known.
    return {};
  }
}

/** Returns the message of an error for users, with the id of the request for the operator. */
export function errorMessage(problem: unknown): string {
  if (!(problem instanceof ApiError)) return String(problem);
  const words = problem.code === '' ? problem.message : wordsOf(problem);
  return `${words}${problem.request_id ? ` (request ${problem.request_id})` : ''}`;
}
