import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

/**
 * Takes the network away from this process, as far as JavaScript reaches it: what reads documents has no use for it.
 * Where the system permits, the process is also started in a network of its own that leads nowhere (`reading-process.ts`).
 */
export function forgetNetwork(): void {
  const refuse = () => {
    throw new Error('there is no network here');
  };
  net.Socket.prototype.connect = refuse;
  net.Server.prototype.listen = refuse;
  dgram.createSocket = refuse;
  dns.lookup = refuse as unknown as typeof dns.lookup;
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']) Reflect.deleteProperty(globalThis, name);
}
