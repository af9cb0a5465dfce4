import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** How long a stop waits for requests in progress; then their connections are closed, too. */
export const GRACE_MS = 7_000;
const LOOK_MS = 250;

/**
 * Returns how to close the connections of a server that is about to stop listening; it resolves when the server may do so. Node
 * closes only those that have been idle since an answer, and waits for the others: also for one that has never sent a request,
 * or is sending one a byte at a time.
 */
export function connectionCloser(server: Server, idle: ReadonlySet<Socket>): () => Promise<void> {
  const answering = new Set<ServerResponse>();
  let isStopping = false;
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  // Before what answers the request.
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    answering.add(response);
    if (isStopping) response.shouldKeepAlive = false;
    response.once('close', () => answering.delete(response));
  });
  async function closeIdle(): Promise<void> {
    const seen = [...idle];
    await untilRead();
    for (const socket of seen) if (idle.has(socket)) socket.destroy();
  }
  return async () => {
    isStopping = true;
    // The client is told to send its next request elsewhere.
    for (const response of answering) response.shouldKeepAlive = false;
    const looking = setInterval(closeIdle, LOOK_MS);
    const grace = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.once('close', () => {
      clearInterval(looking);
      clearTimeout(grace);
    });
    // The system resets connections that wait to be accepted by a server that stops to listen. Node takes one in each turn.
    for (let before = -1; accepted !== before; ) {
      before = accepted;
      await untilRead();
    }
  };
}

/** What had arrived is read: a request of it is no longer that of an idle connection. */
async function untilRead(): Promise<void> {
  await turn();
  await turn();
}
