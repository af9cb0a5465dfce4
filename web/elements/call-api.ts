import { NOT_ALLOWED } from '../../src/platform/core/errors.ts';

/** What people are told instead of what the API tells programs. Every other refusal has a sentence of its own. */
function wordsOf({ status, message }: ApiError): string {
  if (status === 401) {
    return 'You are not signed in any more. Sign in in another tab, then try again here: nothing that you wrote is lost.';
  }
  if (status === 403 && message === NOT_ALLOWED) {
    return 'Your role does not allow this. Ask an owner or an admin of the workspace.';
  }
  return message;
}

const UNREACHABLE = 'The service cannot be reached. Check your connection and try again.';

/** An answer that is not the API's: that of a proxy, a firewall or a balancer between the browser and the service. */
function wordsOfOthers(status: number): string {
  if (status === 413) {
    return 'Something in front of the service, such as a proxy, refuses a request of this size (413). Ask the operator of the service to raise its limit.';
  }
  // 0: there was no answer; 502 to 504: a proxy that gets none.
  if (status === 0 || (status >= 502 && status <= 504)) return UNREACHABLE;
  return `Something in front of the service, such as a proxy, refused the request (${status}). Ask the operator of the service.`;
}

/** An error reply of the API, or of what is in front of it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly request_id: string;
  /** Seconds until the request may succeed, where the service says so. */
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

/** Calls the API with the cookie of the session. Errors: ApiError, with status 0 if there was no reply; an AbortError. */
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

/** A part of a list, and the path of the next one. Errors: ApiError. */
export async function callList<T>(path: string): Promise<{ records: T[]; next: string | undefined }> {
  const { text, link } = await send('GET', path);
  return { records: JSON.parse(text) as T[], next: /^<([^>]*)>; rel="next"$/.exec(link)?.[1] };
}

/** All records of a list. Errors: ApiError. */
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
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      // What is deleted is deleted although the page is left at that moment.
      keepalive: method === 'DELETE',
      headers: {
        accept: 'application/json',
        ...(body && !isForm && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (cause) {
    if ((cause as Error).name === 'AbortError') throw cause;
    throw new ApiError(0, {});
  }
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, parseErrorBody(text), response.headers.get('retry-after'));
  return { text, link: response.headers.get('link') ?? '' };
}

/** The body of an error reply; {} if it is not the API's, such as the HTML of a proxy. */
export function parseErrorBody(text: string): { error?: string; message?: string; request_id?: string } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    // Then only the status is known.
    return {};
  }
}

/** The message of an error for users, with the id of the request for the operator. */
export function errorMessage(problem: unknown): string {
  if (!(problem instanceof ApiError)) return String(problem);
  const words = problem.code === '' ? problem.message : wordsOf(problem);
  return `${words}${problem.request_id ? ` (request ${problem.request_id})` : ''}`;
}
