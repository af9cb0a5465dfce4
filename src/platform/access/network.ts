import { isIP, isIPv4 } from 'node:net';

/**
 * Returns the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, the usual assignment
 * to one customer. All spellings of an address (shortened, in capitals, IPv4-mapped, with a port) give the same
 * network. Anything else is 'unknown', one shared network.
 */
export function networkOf(address: string | undefined): string {
  const text = withoutPort(address ?? '').replace(/%.*$/s, '');
  if (isIPv4(text)) return text;
  if (isIP(text) !== 6) return 'unknown';
  const groups = groupsOf(text);
  const mapped = mappedIPv4(groups);
  if (mapped !== undefined) return mapped;
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** Strips port and zone from an address and unwraps IPv4-mapped IPv6. Returns undefined for anything else. */
export function plainAddress(address: string | undefined): string | undefined {
  const text = withoutPort(address ?? '').replace(/%.*$/s, '');
  if (isIPv4(text)) return text;
  if (isIP(text) !== 6) return undefined;
  return mappedIPv4(groupsOf(text)) ?? text;
}

/**
 * Returns the caller's address for the log and the audit log. If a proxy sends something other than an address, such as
 * `unknown`, returns the address of the proxy. Returns '' if the connection was closed.
 */
export function clientAddress(request: { ip: string; socket: { remoteAddress?: string | undefined } | null }): string {
  return plainAddress(request.ip) ?? plainAddress(request.socket?.remoteAddress) ?? '';
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** Returns the eight 16-bit groups of a valid IPv6 address. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const first = numbersOf(head);
  const last = numbersOf(tail ?? '');
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** Returns the IPv4 address in an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`); undefined for other addresses. */
function mappedIPv4(groups: readonly number[]): string | undefined {
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? ipv4Of(groups[6] ?? 0, groups[7] ?? 0) : undefined;
}

function numbersOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
