import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { cleanUp } from '../../../../test/clean-up.ts';
import { until } from '../../../../test/until.ts';
import { disconnectSlowClients, setSending } from './slow-clients.ts';

async function serve(limits: Partial<Parameters<typeof disconnectSlowClients>[1] & object>, size = 2 ** 25) {
  const server = createServer((request, response) => {
    if (request.url === '/send') setSending(request.socket, true);
    if (request.url === '/events') return void response.write('retry: 2000\n\n');
    request.resume();
    if (request.url === '/large') response.end(Buffer.alloc(size));
  });
  disconnectSlowClients(server, {
    sweep_ms: 50,
    answer_ms: 60_000,
    body_ms: 60_000,
    progress_bytes: 16_384,
    unsent_bytes_max: 2 ** 30,
    ...limits,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return (text: string): Socket => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => undefined);
    socket.write(text);
    return socket;
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('a client that reads nothing of a response is disconnected, and a client that follows events is not', async () => {
  const open = await serve({ answer_ms: 200 });
  const events = open(get('/events'));
  events.resume();
  const reader = open(get('/large'));
  reader.pause();
  // Reads again later, because a paused socket does not notice that the other end has closed.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  reader.resume();
  await until('the reader is disconnected', () => reader.closed || reader.destroyed || reader.readableEnded);
  assert.ok(reader.bytesRead < 2 ** 25, `${reader.bytesRead} bytes arrived before the disconnect`);
  assert.ok(!events.destroyed && !events.readableEnded);
  events.destroy();
});

test('a client that sends a byte at a time is disconnected, and a client that sends enough is not', async () => {
  const open = await serve({ body_ms: 400 });
  const head = 'POST /send HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n';
  const [slow, fast] = [open(head), open(head)];
  const timer = setInterval(() => {
    slow.write('x');
    fast.write(Buffer.alloc(2 ** 16));
  }, 20);
  for (const socket of [slow, fast]) socket.resume();
  await until('the slow client is disconnected', () => slow.closed);
  clearInterval(timer);
  assert.ok(!fast.closed);
  fast.destroy();
});

test('when too many bytes are unsent, clients that read nothing are disconnected before their timeout', async () => {
  const open = await serve({ unsent_bytes_max: 2 ** 26 });
  const readers = Array.from({ length: 6 }, () => {
    const reader = open(get('/large'));
    reader.pause();
    return reader;
  });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const reader of readers) reader.resume();
  await until(
    'all readers have been disconnected or served',
    () => readers.map((reader) => reader.closed || reader.bytesRead >= 2 ** 25),
    (ended) => ended.every(Boolean),
  );
  assert.ok(readers.some((reader) => reader.bytesRead < 2 ** 25));
  for (const reader of readers) reader.destroy();
});
