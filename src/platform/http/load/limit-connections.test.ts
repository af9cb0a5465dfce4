import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { cleanUp } from '../../../../test/clean-up.ts';
import { until } from '../../../../test/until.ts';
import { idleConnections } from './idle-connections.ts';
import { limitConnections } from './limit-connections.ts';

/** Serves up to six connections. Each address in 127.0.0.0/8 acts as a client. */
async function serve() {
  const held: ServerResponse[] = [];
  /** The client address of every request. */
  const from: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    from.push(request.socket.remoteAddress);
    if (request.url === '/held') held.push(response);
    else response.end('now');
  });
  limitConnections(server, 6, idleConnections(server));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = async (localAddress: string, path?: string): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => undefined);
    const before = held.length;
    if (path !== undefined) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    socket.resume();
    await once(socket, 'connect');
    if (path === '/held') await until('the request is in progress', () => held.length > before);
    return socket;
  };
  const answered = async (socket: Socket) => {
    const [data] = await once(socket, 'data');
    assert.match(String(data), /now$/);
  };
  return { open, answered, held, port, from };
}

test('an address that holds all connections loses its idle connections to other addresses', async () => {
  const { open, answered } = await serve();
  const idle: Socket[] = [];
  for (let i = 0; i < 5; i += 1) idle.push(await open('127.0.0.2'));
  const used = await open('127.0.0.2', '/held');
  for (const address of ['127.0.0.3', '127.0.0.4']) await answered(await open(address, '/'));
  await until('two connections are closed', () => idle.filter(({ closed }) => closed).length === 2);
  assert.deepEqual(
    [...idle, used].map(({ closed }) => closed),
    [true, true, false, false, false, false],
  );
});

test('an address that uses all connections gets no more, but another address does', async () => {
  const { open, answered, held } = await serve();
  const used: Socket[] = [];
  for (let i = 0; i < 6; i += 1) used.push(await open('127.0.0.2', '/held'));
  const further = await open('127.0.0.2', '/');
  await until('the extra connection is closed', () => further.closed);
  assert.ok(used.every(({ closed }) => !closed));
  await answered(await open('127.0.0.3', '/'));
  await until('the oldest connection is closed', () => used[0]?.closed);
  for (const response of held.slice(1)) response.end('now');
  await Promise.all(used.slice(1).map(answered));
});

test('closed connections no longer count', async () => {
  const { open, answered } = await serve();
  for (let i = 0; i < 20; i += 1) {
    const socket = await open('127.0.0.2', '/held');
    socket.destroy();
    await once(socket, 'close');
  }
  const kept = await open('127.0.0.2', '/held');
  await answered(await open('127.0.0.3', '/'));
  assert.ok(!kept.closed);
});

test('every request has the address of its client, even if the client reset the connection before it was accepted', async () => {
  const { open, answered, port, from } = await serve();
  // In another process, because this process must be busy and accept nothing until the client is done.
  const client = `
    const socket = require('node:net').connect(${port}, '127.0.0.1', () => {
      socket.write('GET /broken HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n', () => socket.resetAndDestroy());
    });`;
  for (let i = 0; i < 3; i += 1) assert.equal(spawnSync(process.execPath, ['-e', client]).status, 0);
  await answered(await open('127.0.0.2', '/'));
  assert.ok(from.length > 0 && from.every((address) => address !== undefined), JSON.stringify(from));
});
