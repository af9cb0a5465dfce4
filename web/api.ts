import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify';
import { clientAddress } from '../src/platform/access/network.ts';
import { cookieOf } from '../src/platform/http/browser-cookie.ts';

/** An error reply of the API, shown to users. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly request_id: string;

  constructor(status: number, body: { error?: string; message?: string; request_id?: string }) {
    super(body.message ?? 'The service sent an unreadable reply.');
    this.status = status;
    this.code = body.error ?? 'internal_error';
    this.request_id = body.request_id ?? '';
  }
}

/**
 * Returns the API's error reply to a form, to be shown above the form. Rethrows every other error, and a 401, which
 * leads to the sign-in page and back.
 */
export function problemForForm(error: unknown): Problem {
  if (!(error instanceof Problem) || error.status === 401) throw error;
  return error;
}

/** The public API, called in this process with the browser's credential, so that access is decided by the API alone. */
export interface Api {
  get<T>(path: string): Promise<T>;
  /** Gets a page of a list, and its `Link` header to the next page; "" on the last page. */
  part<T>(path: string): Promise<{ body: T; link: string }>;
  /** Gets a resource with an ETag. The body is undefined if the ETag still matches `known`. */
  getUnlessKnown<T>(path: string, known: string): Promise<{ body: T | undefined; etag: string }>;
  post<T>(path: string, body?: object): Promise<T>;
  /** The same, and also returns a response header; "" without it. */
  postForHeader<T>(path: string, body: object, name: string): Promise<{ body: T; header: string }>;
  put<T>(path: string, body?: object): Promise<T>;
  putBytes<T>(path: string, bytes: Buffer, type: string): Promise<T>;
  patch<T>(path: string, body: object): Promise<T>;
  delete(path: string): Promise<void>;
  /** Returns the same API with another access token, such as the token of a session whose cookie is not set yet. */
  as(token: string): Api;
  /** Returns the same API with the cookie of a session that the browser does not have yet. */
  withCookie(cookie: string): Api;
  /** Posts a body without buffering it. */
  stream<T>(path: string, body: FastifyRequest['raw']): Promise<T>;
}

/** API paths that pages call before a user has signed in. */
const NEEDS_NO_SESSION = /^\/v1\/(?:widget-frames\?|(?:auth|invitations)\/(?!browser$|sign-out|accept$))/;

export function apiFor(
  app: FastifyInstance,
  request: FastifyRequest,
  sessionCookie: string,
  other?: Record<string, string>,
): Api {
  const { headers } = request.raw;
  // A visit may start on another site, by a link. The page's own API calls are same-origin all the same.
  const credential = other ?? { cookie: headers.cookie ?? '', 'sec-fetch-site': 'same-origin' };
  const isSignedIn = other !== undefined || cookieOf(request.raw, sessionCookie) !== undefined;
  const own = {
    accept: 'application/json',
    host: headers.host ?? 'localhost',
    'x-request-id': request.id,
    'user-agent': headers['user-agent'] ?? '',
    ...credential,
  };

  async function answerTo<T>(options: InjectOptions): Promise<{ body: T; header(name: string): string }> {
    // The answer is known, and calling the API would log a warning for each page opened without a session.
    if (!isSignedIn && !NEEDS_NO_SESSION.test(String(options.url))) {
      throw new Problem(401, { error: 'unauthorized', message: 'You are not signed in.', request_id: request.id });
    }
    const answer = await app.inject({
      remoteAddress: clientAddress(request),
      ...options,
      headers: { ...own, ...options.headers },
    });
    if (answer.statusCode >= 400) throw new Problem(answer.statusCode, readJson(answer.payload));
    const body = (answer.payload === '' ? undefined : JSON.parse(answer.payload)) as T;
    return { body, header: (name) => String(answer.headers[name] ?? '') };
  }

  const ask = async <T>(options: InjectOptions) => (await answerTo<T>(options)).body;

  return {
    get: (url) => ask({ method: 'GET', url }),
    part: async <T>(url: string) => {
      const { body, header } = await answerTo<T>({ method: 'GET', url });
      return { body, link: header('link') };
    },
    getUnlessKnown: async <T>(url: string, known: string) => {
      const headers = known === '' ? {} : { 'if-none-match': known };
      const { body, header } = await answerTo<T | undefined>({ method: 'GET', url, headers });
      return { body, etag: header('etag') };
    },
    post: (url, payload) => ask({ method: 'POST', url, ...(payload && { payload }) }),
    postForHeader: async <T>(url: string, payload: object, name: string) => {
      const { body, header } = await answerTo<T>({ method: 'POST', url, payload });
      return { body, header: header(name) };
    },
    put: (url, payload) => ask({ method: 'PUT', url, ...(payload && { payload }) }),
    // A stream, as for other binary bodies: this injected request has no socket, so body timeouts cannot apply.
    putBytes: (url, bytes, type) =>
      ask({ method: 'PUT', url, payload: Readable.from([bytes]), headers: { 'content-type': type } }),
    patch: (url, payload) => ask({ method: 'PATCH', url, payload }),
    delete: (url) => ask({ method: 'DELETE', url }),
    as: (other) => apiFor(app, request, sessionCookie, { authorization: `Bearer ${other}` }),
    withCookie: (cookie) => apiFor(app, request, sessionCookie, { cookie, 'sec-fetch-site': 'same-origin' }),
    stream: (url, payload) =>
      ask({ method: 'POST', url, payload, headers: { 'content-type': headers['content-type'] ?? '' } }),
  };
}

function readJson(text: string): { error?: string; message?: string; request_id?: string } {
  try {
    return JSON.parse(text);
  } catch {
    // A reply that is not the API's may be HTML, so only the status is known.
    return {};
  }
}
