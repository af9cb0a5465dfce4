import { isIP, isIPv4 } from 'node:net';

/**
 * The network that requests from an address count together for: an IPv4 address itself, of an IPv6 address its /64,
 * which is what one customer is given. However an address is written (shortened, in capitals, IPv4 inside IPv6, with a
 * port), it is one network. What is no address is 'unknown', which all such share.
 */
export function networkOf(address: string | undefined): string {
  const text = withoutPort(address ?? '').replace(/%.*$/s, '');
  if (isIPv4(text)) return text;
  if (isIP(text) !== 6) return 'unknown';
  const groups = groupsOf(text);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return ipv4Of(groups[6] ?? 0, groups[7] ?? 0);
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** The eight numbers of an IPv6 address that is known to be one. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const first = numbersOf(head);
  const last = numbersOf(tail ?? '');
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
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
