import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Limits the number of open connections of a server, without letting one address take all of them. Above the limit, the
 * address with the most connections loses its longest idle connection. If none of its connections is idle, it loses its
 * oldest to another address, and gets no further connection itself. A connection that the client reset before it was
 * accepted has no address, which rate limits and the audit log need; it is closed and its requests are dropped.
 */
export function limitConnections(server: Server, max: number, idle: ReadonlySet<Socket>): void {
  const byAddress = new Map<string, Set<Socket>>();
  let count = 0;

  function add(socket: Socket, address: string): ReadonlySet<Socket> {
    const own = byAddress.get(address) ?? new Set();
    byAddress.set(address, own.add(socket));
    count += 1;
    socket.once('close', () => remove(socket, address));
    return own;
  }

  /** Called when a connection is closed, or before closing it. */
  function remove(socket: Socket, address: string): void {
    const own = byAddress.get(address);
    if (!own?.delete(socket)) return;
    count -= 1;
    if (own.size === 0) byAddress.delete(address);
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const own = add(socket, remoteAddress);
    if (count <= max) return;
    const [address, most] = largest(byAddress);
    const longestIdle = [...idle].find((one) => one !== socket && most.has(one));
    const [oldest = socket] = most;
    const loser = longestIdle ?? (most === own ? socket : oldest);
    remove(loser, address);
    loser.destroy();
  });
}

function largest(byAddress: ReadonlyMap<string, ReadonlySet<Socket>>): [address: string, sockets: ReadonlySet<Socket>] {
  let most: [string, ReadonlySet<Socket>] = ['', new Set()];
  for (const entry of byAddress) if (entry[1].size > most[1].size) most = entry;
  return most;
}
