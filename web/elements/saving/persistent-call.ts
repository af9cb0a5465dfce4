import { ApiError, callApi } from '../call-api.ts';

/** A write that is retried until it is answered. Its idempotency key makes the service carry it out once. */
export interface PendingWrite {
  key: string;
  method: 'POST' | 'PATCH';
  path: string;
  body: { title: string; markdown: string; [field: string]: unknown };
  /** Slugs to try if the page's slug is taken. After the last one, the write is sent without a slug. */
  otherSlugs?: readonly string[];
}

/** Callbacks for obstacles between a request and its answer, which the page shows or waits for. */
export interface Obstacles {
  /** The service is unreachable or overloaded; the request will be retried. */
  waits(): void;
  /** The session has ended. Resolves when the user has signed in again. */
  signIn(): Promise<void>;
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 20_000;
/** Statuses after which the same request may succeed. */
const TRANSIENT: ReadonlySet<number> = new Set([0, 408, 429, 502, 503, 504]);

/**
 * Calls the API until it answers. Waits while the connection is down, the service is busy or the session has ended.
 * Throws ApiError.
 */
export async function persistentCall<T>(
  obstacles: Obstacles,
  method: string,
  path: string,
  body?: object,
  idempotencyKey?: string,
): Promise<T> {
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    try {
      return await callApi<T>(method, path, body, undefined, idempotencyKey);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) await obstacles.signIn();
      else if (TRANSIENT.has(error.status) || error.code === 'idempotency_in_progress') {
        obstacles.waits();
        await connectionOr(1_000 * (error.retry_after ?? 0) || delay);
      } else throw error;
    }
  }
}

/** Resolves when the browser is online again, or after this time. */
function connectionOr(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener('online', done);
  });
}

/** Returns random hexadecimal digits. `crypto.randomUUID` exists only on pages served over HTTPS. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Returns the write with its next alternative slug, after the service refused a taken slug. Returns undefined if the
 * user chose the slug.
 */
export function withNextSlug({ otherSlugs, ...write }: PendingWrite): PendingWrite | undefined {
  if (!otherSlugs) return undefined;
  const { slug: _taken, ...body } = write.body;
  const [slug, ...rest] = otherSlugs;
  const next = { ...write, key: randomId() };
  return slug === undefined ? { ...next, body } : { ...next, body: { ...body, slug }, otherSlugs: rest };
}
