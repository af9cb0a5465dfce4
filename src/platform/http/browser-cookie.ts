import type { IncomingMessage } from 'node:http';
import { tokenHash } from '../access/token.ts';
import { isTrustworthy } from '../core/trustworthy-url.ts';

/** With https, the `__Host-` prefix makes browsers refuse the cookie from any other host. */
export function browserCookieName(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-ibid' : 'ibid';
}

/** The cookie that stays when a session ends, by which guesses at a user's password are told from the user's own. */
export function deviceCookieName(publicUrl: string): string {
  return `${browserCookieName(publicUrl)}-device`;
}

/** The only value of the request's cookie with this name; undefined where there is none, or more than one. */
export function cookieOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Whether the request comes from a page of this service. Browsers send Sec-Fetch-Site, which no script can set; those that
 * do not send it name the origin of a write in Origin. Over plain http from another machine no browser sends it, so a read
 * counts by its Referer there, which no script of another site can set either. A request without any of them is not trusted.
 */
export function isFromOurPages({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>, publicUrl: string) {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const own = new URL(publicUrl);
  if (method !== 'GET' && method !== 'HEAD') return headers.origin === own.origin;
  return !isTrustworthy(own) && URL.parse(headers.referer ?? '')?.origin === own.origin;
}

/** The secret of a browser's session, if a page of this service sends it and the request has no other credential. */
export function browserToken(request: IncomingMessage, publicUrl: string): string | undefined {
  if (request.headers.authorization !== undefined || !isFromOurPages(request, publicUrl)) return undefined;
  const token = cookieOf(request, browserCookieName(publicUrl));
  return token !== undefined && tokenHash('browser', token) ? token : undefined;
}
