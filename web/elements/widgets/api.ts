/** An error response of the service, or a failed connection (status 0). */
export class WidgetError extends Error {
  readonly status: number;
  /** The API's error code; '' without one. */
  readonly code: string;
  readonly request_id: string;

  constructor(status: number, code: string, message: string, request_id: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.request_id = request_id;
  }
}

export interface TokenSource {
  /** The current token; '' without one. */
  token(): string;
  /** Gets a new token; undefined if the page has configured no way to do so. */
  renew(): Promise<string> | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls the endpoints of a widget. The token is the only credential; an expired token is renewed once. */
export class WidgetApi {
  readonly #address: string;
  readonly #tokens: TokenSource;
  readonly #signal: AbortSignal;

  constructor(address: string, tokens: TokenSource, signal: AbortSignal) {
    this.#address = address;
    this.#tokens = tokens;
    this.#signal = signal;
  }

  /** Throws WidgetError, or AbortError if the widget has left the page. */
  async call<T>(method: Method, path: string, body?: unknown): Promise<Reply<T>> {
    const first = this.#tokens.token() || (await this.#tokens.renew());
    const response = await this.#send(first ?? '', method, path, body);
    if (response.status !== 401) return read<T>(response);
    const next = this.#tokens.renew();
    if (next === undefined) return read<T>(response);
    return read<T>(await this.#send(await next, method, path, body));
  }

  async #send(token: string, method: Method, path: string, body: unknown): Promise<Response> {
    try {
      return await fetch(this.#address + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          // The service detects the type of a picture from its bytes.
          ...(body !== undefined && { 'content-type': body instanceof Blob ? 'image/png' : 'application/json' }),
        },
        credentials: 'omit',
        signal: this.#signal,
        ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
      });
    } catch (cause) {
      if (this.#signal.aborted) throw cause;
      // Browsers do not tell scripts whether the connection failed or CORS denied the reply.
      throw new WidgetError(0, '', '', '');
    }
  }
}

/** A response body, and the query of the next page of a list; "" on the last page. */
export interface Reply<T> {
  body: T;
  next: string;
}

async function read<T>(response: Response): Promise<Reply<T>> {
  if (response.status === 204) return { body: undefined as T, next: '' };
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return { body, next: nextOf(response) };
  const { error = '', message = '', request_id = '' } = body ?? {};
  throw new WidgetError(response.status, error, message, request_id);
}

function nextOf({ headers, url }: Response): string {
  const [, target] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return target === undefined ? '' : new URL(target, url).search;
}
