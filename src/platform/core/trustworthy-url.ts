const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

/** True for https, and for http to this machine. */
export function isTrustworthy(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}
