import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** How long a stop waits for requests in progress before it closes their connections too. */
export const GRACE_MS = 7_000;
const LOOK_MS = 250;

/**
 * Returns a function that closes the connections of a server before it stops listening; it resolves when the server may
 * do so. Node closes only connections that are idle after a response. It would wait for connections that never sent a
 * request, or that send one a byte at a time.
 */
export function connectionCloser(server: Server, idle: ReadonlySet<Socket>): () => Promise<void> {
  const answering = new Set<ServerResponse>();
  let isStopping = false;
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  // Must run before the listener that handles the request.
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
    // `Connection: close` makes the client send its next request elsewhere.
    for (const response of answering) response.shouldKeepAlive = false;
    const looking = setInterval(closeIdle, LOOK_MS);
    const grace = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.once('close', () => {
      clearInterval(looking);
      clearTimeout(grace);
    });
    // The kernel resets connections in the accept queue when a server stops listening. Node accepts one connection per
    // turn of the event loop, so repeat until no more are accepted.
    for (let before = -1; accepted !== before; ) {
      before = accepted;
      await untilRead();
    }
  };
}

/** Waits until received data has been read, so that a connection with a new request no longer counts as idle. */
async function untilRead(): Promise<void> {
  await turn();
  await turn();
}
