import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fastify from 'fastify';
import type { Blobs } from '../providers/storage/blobs.ts';
import { sendBytes } from './bytes.ts';

/** As long as the representation in the examples of RFC 9110, 14. */
const content = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 251));
const blobs = {
  stream: async (_hash: string, range = { start: 0, end: content.length - 1 }) =>
    Readable.from([content.subarray(range.start, range.end + 1)]),
} as Blobs;
const file = { sha256: 'a', byte_size: content.length, content_type: 'image/png', filename: 'a.png', inline: true };

test('Range is parsed as in RFC 9110, 14.1.2', async () => {
  const server = fastify();
  server.get('/', (request, reply) => sendBytes(request, reply, blobs, file));
  const examples: [range: string, first?: number, last?: number][] = [
    // Examples of the RFC.
    ['bytes=0-499', 0, 499],
    ['bytes=500-999', 500, 999],
    ['bytes=-500', 9_500, 9_999],
    ['bytes=9500-', 9_500, 9_999],
    ['BYTES=0-0', 0, 0],
    // A suffix longer than the file selects the whole file.
    ['bytes=-20000', 0, 9_999],
    // Several ranges, other units and invalid ranges are ignored (14.2), and the whole file is returned.
    ['bytes=0-0,-1'],
    ['bytes= 0-999, 4500-5499, -1000'],
    ['bytes=500-600,601-999'],
    ['seconds=0-1'],
    ['bytes=10-5'],
    ['bytes'],
  ];
  for (const [range, first, last] of examples) {
    const { statusCode, headers, rawPayload } = await server.inject({ url: '/', headers: { range } });
    assert.equal(statusCode, first === undefined ? 200 : 206, range);
    assert.equal(headers['content-range'], first === undefined ? undefined : `bytes ${first}-${last}/10000`);
    assert.ok(rawPayload.equals(content.subarray(first, last === undefined ? undefined : last + 1)), range);
  }
  for (const range of ['bytes=10000-', 'bytes=-0']) {
    const { statusCode, headers } = await server.inject({ url: '/', headers: { range } });
    assert.deepEqual([statusCode, headers['content-range']], [416, 'bytes */10000'], range);
  }
  await server.close();
});
