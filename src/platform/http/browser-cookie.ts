import type { IncomingMessage } from 'node:http';
import { tokenHash } from '../access/token.ts';
import { isTrustworthy } from '../core/trustworthy-url.ts';

/**
 * Returns the name of the session cookie. With https, the `__Host-` prefix makes browsers refuse the cookie from any
 * other host.
 */
export function browserCookieName(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-ibid' : 'ibid';
}

/**
 * Returns the name of a cookie that outlives sessions and distinguishes a user's own password errors from guesses by
 * others.
 */
export function deviceCookieName(publicUrl: string): string {
  return `${browserCookieName(publicUrl)}-device`;
}

/** Returns the value of the request's cookie with this name; undefined if it is missing or occurs more than once. */
export function cookieOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Returns whether a page of this service sent the request. Browsers send Sec-Fetch-Site, which scripts cannot set;
 * older browsers send Origin with writes. Over plain http from another machine no browser sends Sec-Fetch-Site, so for
 * reads the Referer decides, which scripts of other sites cannot set either. A request without any of these headers is
 * not trusted.
 */
export function isFromOurPages({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>, publicUrl: string) {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const own = new URL(publicUrl);
  if (method !== 'GET' && method !== 'HEAD') return headers.origin === own.origin;
  return !isTrustworthy(own) && URL.parse(headers.referer ?? '')?.origin === own.origin;
}

/**
 * Returns the secret of a browser's session if a page of this service sent it and the request has no other credential.
 */
export function browserToken(request: IncomingMessage, publicUrl: string): string | undefined {
  if (request.headers.authorization !== undefined || !isFromOurPages(request, publicUrl)) return undefined;
  const token = cookieOf(request, browserCookieName(publicUrl));
  return token !== undefined && tokenHash('browser', token) ? token : undefined;
}
