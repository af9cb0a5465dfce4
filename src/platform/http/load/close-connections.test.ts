import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { connectionCloser } from './close-connections.ts';
import { idleConnections } from './idle-connections.ts';

async function openServer() {
  const server = createServer((request, response) => {
    if (request.url === '/held') held.push(() => response.end('late'));
    else response.end('at once');
  });
  const held: (() => void)[] = [];
  const close = connectionCloser(server, idleConnections(server));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (sent: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    if (sent !== '') socket.write(sent);
    return socket;
  };
  const stop = async () => {
    const closed = once(server, 'close');
    await close();
    server.close();
    await closed;
  };
  return { open, stop, held };
}

const requestOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Node waits a minute for the headers of a request. */
test('a stop closes connections without a request, with half a request, or idle after a response', {
  timeout: 30_000,
}, async () => {
  const { open, stop } = await openServer();
  const answered = await open(requestOf('/'));
  await once(answered, 'data');
  const sockets = [answered, await open(''), await open('GET / HTTP/1.1\r\nHos')];
  const ended = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
  await stop();
  await ended;
});

test('a stop waits for a request in progress, and its response arrives', async () => {
  const { open, stop, held } = await openServer();
  const socket = await open(requestOf('/held'));
  while (held.length === 0) await new Promise(setImmediate);
  const stopped = stop();
  setTimeout(() => held[0]?.(), 1_000);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /late$/);
  assert.match(String(answer), /^connection: close$/im, 'the client sends no other request on this connection');
  await stopped;
});

test('a stop does not wait forever for a request in progress', async (t) => {
  const { open, stop, held } = await openServer();
  const socket = await open(requestOf('/held'));
  while (held.length === 0) await new Promise(setImmediate);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stopped = stop();
  t.mock.timers.tick(7_000);
  await Promise.all([stopped, once(socket, 'close')]);
});
