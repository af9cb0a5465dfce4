import { createHash } from 'node:crypto';
import Negotiator from 'negotiator';

const JSON_TYPE = 'application/json';
const NO_TAGS: readonly string[] = [];

/** Returns the ETag of a representation: a prefix by which its endpoint recognizes it (or ""), and a hash. */
export function entityTag(prefix: string, text: string): string {
  const hash = createHash('sha1').update(text).digest('base64url').slice(0, 16);
  return `"${prefix === '' ? '' : `${prefix}-`}${hash}"`;
}

/** Returns the ETags in If-None-Match, for weak comparison (RFC 9110, 13.1.2); `*` matches any. */
export function tagsIn(ifNoneMatch: string | undefined): readonly string[] {
  return ifNoneMatch === undefined ? NO_TAGS : ifNoneMatch.split(',').map((known) => known.trim().replace(/^W\//, ''));
}

/** Returns whether If-None-Match names this ETag. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  return tagsIn(ifNoneMatch).some((known) => known === '*' || known === etag);
}

/** Longer `Accept` headers are truncated, because they are useless and slow to compare. */
const ACCEPT_MAX = 1_024;

/**
 * Returns the media type that `Accept` prefers among `offered` and JSON; undefined for JSON, also if the header is
 * invalid or accepts nothing on offer. RFC 9110, 12.5.1: weights decide, then the more specific range, then the order
 * in the header. A client that accepts anything gets JSON.
 */
export function chooseMediaType(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE) return undefined;
  const headers = { accept: accept.slice(0, ACCEPT_MAX) };
  const chosen = new Negotiator({ headers }).mediaType([JSON_TYPE, ...offered]);
  return chosen === JSON_TYPE ? undefined : chosen;
}
