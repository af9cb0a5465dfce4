import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a stop waits for requests in progress; then their connections are closed, too. */
const GRACE_MS = 7_000;
const LOOK_MS = 250;

/**
 * Returns how to close the connections of a server that stops listening. Node closes only those that have been idle since an
 * answer, and waits for the others: also for one that has never sent a request, or is sending one a byte at a time.
 */
export function connectionCloser(server: Server): () => void {
  const idle = new Set<Socket>();
  const answering = new Set<ServerResponse>();
  server.on('connection', (socket: Socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      if (!socket.destroyed) idle.add(socket);
    });
  });
  return () => {
    // The client is told to send its next request elsewhere.
    for (const response of answering) response.shouldKeepAlive = false;
    // A request that has just been sent is still answered: its connection is not idle when this looks first.
    const looking = setInterval(() => {
      for (const socket of idle) socket.destroy();
    }, LOOK_MS);
    const grace = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.once('close', () => {
      clearInterval(looking);
      clearTimeout(grace);
    });
  };
}
