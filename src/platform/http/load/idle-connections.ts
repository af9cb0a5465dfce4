import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Tracks the connections of a server without a request in progress, the longest idle first. */
export function idleConnections(server: Server): ReadonlySet<Socket> {
  const idle = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  // Must run before the listener that handles the request.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket);
    });
  });
  return idle;
}
