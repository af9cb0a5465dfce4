import { BlockList, isIP } from 'node:net';

const LOCAL = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const) {
  LOCAL.addSubnet(network, bits, 'ipv4');
}
LOCAL.addAddress('::1', 'ipv6');
LOCAL.addSubnet('fc00::', 7, 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');

/** Names that resolve only in a local network. Names of machines and containers have no dot. */
const LOCAL_NAME = /^[^.]+$|\.(localhost|local|internal|lan|home\.arpa)$/i;

/** Returns whether the host of a URL is this machine or in a private network. */
export function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  if (family === 0) return LOCAL_NAME.test(host);
  return LOCAL.check(host, family === 6 ? 'ipv6' : 'ipv4');
}
