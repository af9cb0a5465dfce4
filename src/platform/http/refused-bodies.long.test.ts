import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { until } from '../../../test/until.ts';
import { openWorld } from '../../../test/world.ts';

/** A refused body has the same timeout as an accepted body. */
const world = await openWorld({ ROLE: 'web' });
const { hostname, port } = new URL(world.address);

/** Requests that are answered before their body. The body is too short to close the connection at once. */
const REFUSED = {
  'no route': 'POST /nothing HTTP/1.1',
  'no credential': 'POST /v1/workspaces HTTP/1.1',
  'no such method': 'DELETE /v1/workspaces HTTP/1.1',
};

test('the connection of a refused request ends although its body continues to arrive byte by byte', async () => {
  await Promise.all(
    Object.entries(REFUSED).map(async ([what, line]) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      let answer = '';
      socket.setEncoding('latin1').on('data', (text) => (answer += text));
      socket.write(`${line}\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n`);
      await until(`${what} is answered`, () => answer.startsWith('HTTP/1.1 4'));
      let sent = 0;
      const sending = setInterval(() => {
        sent += 1;
        socket.write(' ');
      }, 500);
      await until(
        `${what}: the connection has ended`,
        () => ({ isClosed: socket.closed, sent }),
        ({ isClosed }) => isClosed,
      );
      clearInterval(sending);
      assert.ok(sent < 200, `${what}: it was open for ${sent / 2} s`);
    }),
  );
});
