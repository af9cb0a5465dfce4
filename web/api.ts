import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify';

/** What the API answered that is no success, to be shown to people. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly request_id: string;

  constructor(status: number, body: { error?: string; message?: string; request_id?: string }) {
    super(body.message ?? 'The service gave no answer that can be read.');
    this.status = status;
    this.code = body.error ?? 'internal_error';
    this.request_id = body.request_id ?? '';
  }
}

/**
 * What a form was refused for, to be shown with the form. Throws whatever is none of that: what failed here, and 401, which
 * leads to the sign-in and back.
 */
export function problemForForm(error: unknown): Problem {
  if (!(error instanceof Problem) || error.status === 401) throw error;
  return error;
}

/** The public API, asked in this process with what the browser sent, so that it alone decides who may do what. */
export interface Api {
  get<T>(path: string): Promise<T>;
  /** A part of a list, and the `Link` header that leads on; "" on the last part. */
  list<T>(path: string): Promise<{ records: T[]; link: string }>;
  post<T>(path: string, body?: object): Promise<T>;
  patch<T>(path: string, body: object): Promise<T>;
  delete(path: string): Promise<void>;
  /** With a credential of its own, such as a session that is not yet kept by the browser. */
  as(token: string): Api;
  /** Hands on the body as it comes. */
  stream<T>(path: string, body: FastifyRequest['raw']): Promise<T>;
}

export function apiFor(app: FastifyInstance, request: FastifyRequest, token?: string): Api {
  const { headers } = request.raw;
  // The visit itself may come from anywhere, as by a link; what our pages then ask, they ask for themselves.
  const credential =
    token === undefined
      ? { cookie: headers.cookie ?? '', 'sec-fetch-site': 'same-origin' }
      : { authorization: `Bearer ${token}` };
  const own = {
    accept: 'application/json',
    host: headers.host ?? 'localhost',
    'x-request-id': request.id,
    'user-agent': headers['user-agent'] ?? '',
    ...credential,
  };

  async function answerTo<T>(options: InjectOptions): Promise<{ body: T; link: string }> {
    const answer = await app.inject({
      remoteAddress: request.ip,
      ...options,
      headers: { ...own, ...options.headers },
    });
    if (answer.statusCode >= 400) throw new Problem(answer.statusCode, readJson(answer.payload));
    const body = (answer.payload === '' ? undefined : JSON.parse(answer.payload)) as T;
    return { body, link: String(answer.headers.link ?? '') };
  }

  const ask = async <T>(options: InjectOptions) => (await answerTo<T>(options)).body;

  return {
    get: (url) => ask({ method: 'GET', url }),
    list: async <T>(url: string) => {
      const { body, link } = await answerTo<T[]>({ method: 'GET', url });
      return { records: body, link };
    },
    post: (url, payload) => ask({ method: 'POST', url, ...(payload && { payload }) }),
    patch: (url, payload) => ask({ method: 'PATCH', url, payload }),
    delete: (url) => ask({ method: 'DELETE', url }),
    as: (other) => apiFor(app, request, other),
    stream: (url, payload) =>
      ask({ method: 'POST', url, payload, headers: { 'content-type': headers['content-type'] ?? '' } }),
  };
}

function readJson(text: string): { error?: string; message?: string; request_id?: string } {
  try {
    return JSON.parse(text);
  } catch {
    // What refuses in front of the API may say it in HTML: the status alone is known then.
    return {};
  }
}
