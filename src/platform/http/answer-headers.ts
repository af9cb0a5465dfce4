import type { IncomingMessage } from 'node:http';
import { newId } from '../core/ids.ts';

/** Headers of every response: no caching, no content sniffing, and no script can run in it. */
export const HEADERS = {
  'cache-control': 'no-store',
  vary: 'authorization',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
};

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** Returns the client's X-Request-Id if it is valid, otherwise a new ID. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId('req');
}
