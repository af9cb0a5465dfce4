import type { IncomingMessage } from 'node:http';
import { newId } from '../core/ids.ts';

/** On every answer: nothing is cached on the way, nothing is sniffed, nothing that an answer holds can run. */
export const HEADERS = {
  'cache-control': 'no-store',
  vary: 'authorization',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
};

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** The client's own X-Request-Id where it is a good one, else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId('req');
}
