import { createHash } from 'node:crypto';

/** The ETag of a representation: what its maker wants to recognize it by (or ""), and a hash of it. */
export function entityTag(prefix: string, text: string): string {
  const hash = createHash('sha1').update(text).digest('base64url').slice(0, 16);
  return `"${prefix === '' ? '' : `${prefix}-`}${hash}"`;
}

/** Whether If-None-Match names this ETag (RFC 9110, 13.1.2: weak comparison). */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === etag);
}

/**
 * The media type that `Accept` prefers among those offered beside JSON, or undefined for JSON, which is also the answer
 * to whatever is not understood. RFC 9110, 12.5.1, where a wildcard means JSON: a browser names text/html and gets it,
 * a client that takes anything gets JSON.
 */
export function chooseMediaType(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return undefined;
  const ranges = accept.slice(0, 1_024).split(',').map(readRange);
  const weight = (type: string) => ranges.find((range) => range.type === type)?.q ?? 0;
  let best: string | undefined;
  let bestWeight = weight('application/json');
  for (const type of offered) {
    if (weight(type) > bestWeight) {
      best = type;
      bestWeight = weight(type);
    }
  }
  return best;
}

function readRange(text: string): { type: string; q: number } {
  const [type, ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  return { type: type ?? '', q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
}
