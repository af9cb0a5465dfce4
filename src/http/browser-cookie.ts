import type { IncomingMessage } from 'node:http';
import { tokenHash } from '../access/token.ts';

/** With https the name itself makes browsers refuse the cookie from anybody but this very host. */
export function browserCookieName(publicUrl: string): string {
  return publicUrl.startsWith('https:') ? '__Host-ibid' : 'ibid';
}

/** The one value that a request's cookie of this name has; undefined where there is none, or more than one. */
export function cookieOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Whether a page of this very service makes the request. Browsers say so in Sec-Fetch-Site, which no script can write;
 * one that does not, names in Origin where a write comes from. Whoever says neither is nobody that we know.
 */
export function isFromOurPages({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>, publicUrl: string) {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return method !== 'GET' && method !== 'HEAD' && headers.origin === new URL(publicUrl).origin;
}

/** The secret of a browser's session, where our own page sends it; a request with another credential has none. */
export function browserToken(request: IncomingMessage, publicUrl: string): string | undefined {
  if (request.headers.authorization !== undefined || !isFromOurPages(request, publicUrl)) return undefined;
  const token = cookieOf(request, browserCookieName(publicUrl));
  return token !== undefined && tokenHash('browser', token) ? token : undefined;
}
