import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Blobs } from '../providers/storage/blobs.ts';
import { receiveFiles } from './multipart.ts';

test("the charset of a part is kept: busboy's parser emits the headers before dropping them", async () => {
  const part = (name: string, type: string) =>
    `--x\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\ntext\r\n`;
  const text = `${part('a.txt', 'text/plain; charset="shift_jis"')}${part('b.txt', 'text/plain')}--x--\r\n`;
  const blobs = {
    receive: async (file: Readable) => ({
      byte_size: (await buffer(file)).length,
      keep: async () => undefined,
    }),
  } as unknown as Blobs;
  const { files } = await receiveFiles(
    Readable.from([Buffer.from(text)]),
    { 'content-type': 'multipart/form-data; boundary=x' },
    blobs,
    {
      upload_files: 2,
      upload_bytes: 1_000,
      file_bytes: 1_000,
      storage: { used: 0, allowed: null },
      beforeKeeping: async () => undefined,
    } as unknown as Parameters<typeof receiveFiles>[3],
  );
  assert.deepEqual(
    files.map(({ filename, content_type }) => [filename, content_type]),
    [
      ['a.txt', 'text/plain; charset=shift_jis'],
      ['b.txt', 'text/plain'],
    ],
  );
});
