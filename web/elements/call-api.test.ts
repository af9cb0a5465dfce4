import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ApiError, callApi } from './call-api.ts';

test('an answer that breaks off counts as none, so that a save is sent again with the same key', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"page_id":');
    setTimeout(() => response.destroy(), 50);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    await assert.rejects(callApi('PATCH', `http://127.0.0.1:${port}/`, {}), (error) => {
      assert.ok(error instanceof ApiError, String(error));
      return error.status === 0;
    });
  } finally {
    server.close();
  }
});
