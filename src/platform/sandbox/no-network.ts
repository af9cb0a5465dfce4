import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

/**
 * Disables the network APIs of this process, because document parsers do not need them. Where the kernel permits, the
 * process also runs in its own network namespace without interfaces (`confined-command.ts`).
 */
export function disableNetwork(): void {
  const refuse = () => {
    throw new Error('there is no network here');
  };
  net.Socket.prototype.connect = refuse;
  net.Server.prototype.listen = refuse;
  dgram.createSocket = refuse;
  dns.lookup = refuse as unknown as typeof dns.lookup;
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']) Reflect.deleteProperty(globalThis, name);
}
