import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent, longTest } from '../../../test/extent.ts';
import { runScheduled } from '../../../test/jobs.ts';
import { makeFolder } from '../../../test/process.ts';
import { type Announced, announce, offsetOf, patch, sendFile, sha256Of } from '../../../test/resumable.ts';
import { until } from '../../../test/until.ts';
import { type Client, makeDatabase, openWorld, waitForUpload } from '../../../test/world.ts';
import { zipOf } from '../../../test/zip.ts';
import { sql } from '../../platform/db/sql.ts';
import { expireUploads, removeOrphanedParts } from './expire-uploads.job.ts';

const DATABASE_URL = await makeDatabase();
const DATA_DIR = join(await makeFolder(), 'data');
const world = await openWorld({ DATA_DIR, DATABASE_URL });
const { db } = world;
const MIB = 2 ** 20;

const markdown = (words: number) => Buffer.from(`# A page\n\n${'Words, and more of them. '.repeat(words / 5)}\n`);

/** Waits until an upload has completed; returns the hashes of the wiki's sources by filename. */
async function sourcesOf(client: Client, wiki_id: string, { upload_id }: Announced): Promise<Record<string, string>> {
  const { body: ended } = await waitForUpload(client, wiki_id, upload_id);
  assert.equal(ended.status, 'completed', JSON.stringify(ended));
  const { body } = await client.get(`/v1/wikis/${wiki_id}/sources?limit=500`);
  return Object.fromEntries(body.map((source: Record<string, string>) => [source.filename, source.sha256]));
}

async function oneFile(content: Buffer) {
  const owner = await world.owner();
  const upload = await announce(owner, owner.wiki_id, { 'a.md': content });
  const [file] = upload.files;
  assert.ok(file);
  return { owner, upload, file, path: file.path };
}

test('announced files arrive by tus in any number of requests, and become sources and pages', async () => {
  const owner = await world.owner();
  const { wiki_id } = owner;
  const contents = { 'guide/large.md': markdown(2_000), 'small.md': markdown(10), 'empty.txt': Buffer.alloc(0) };
  const upload = await announce(owner, wiki_id, contents);
  const { body: before } = await owner.get(upload.path);
  assert.deepEqual([before.status, before.status_label, before.error], ['uploading', 'running', '']);
  assert.equal(before.finished_at, undefined);
  for (const file of upload.files) await sendFile(world.address, owner.token, file, { chunkSize: 3_000 });
  for (const { path, content } of upload.files) assert.equal(await offsetOf(owner, path), content.length);
  const { status, body: queued } = await owner.post(`${upload.path}/complete`);
  assert.equal(status, 200, JSON.stringify(queued));
  assert.deepEqual([queued.status, queued.status_label], ['queued', 'running']);
  const sources = await sourcesOf(owner, wiki_id, upload);
  assert.deepEqual(sources, {
    'guide/large.md': sha256Of(contents['guide/large.md']),
    'small.md': sha256Of(contents['small.md']),
  });
  const { body: page } = await owner.get(`/v1/wikis/${wiki_id}/pages/path/guide/large`);
  assert.equal(page.origin, 'compiled');
  assert.deepEqual(await db.query(sql`select name from upload_parts where upload_id = ${upload.upload_id}`), []);
});

test('bytes sent in pieces of any length, at correct and wrong offsets, add up to the announced file', async () => {
  const owner = await world.owner();
  const content = randomBytes(200);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 220 }), fc.integer({ min: 0, max: 90 })), { maxLength: 8 }),
      async (sends) => {
        const { files, path: upload_path } = await announce(owner, owner.wiki_id, { 'a.bin': content });
        const path = files[0]?.path ?? '';
        let have = 0;
        for (const [offset, length] of sends) {
          const bytes = content.subarray(offset, offset + length);
          const { status, headers } = await patch(owner, path, offset, bytes);
          const isDone = have === content.length && bytes.length >= 0;
          if (offset === have) {
            assert.equal(status, 204);
            have += bytes.length;
            assert.equal(Number(headers.get('upload-offset')), have);
          } else assert.equal(status, 409, `at ${offset}, where ${have} are there${isDone ? ', which is all' : ''}`);
          assert.equal(await offsetOf(owner, path), have);
        }
        const early = await owner.post(`${upload_path}/complete`);
        if (have < content.length) assert.deepEqual([early.status, early.body.error], [409, 'upload_state']);
        else assert.equal(early.status, 200);
        if (have < content.length) {
          await patch(owner, path, have, content.subarray(have));
          assert.equal((await owner.post(`${upload_path}/complete`)).status, 200);
        }
        const [kept] = await db.query<{ sha256: string }>(
          sql`select sha256 from upload_files where file_id = ${files[0]?.file_id}`,
        );
        assert.equal(kept?.sha256, sha256Of(content));
      },
    ),
    { numRuns: Number(process.env.RESUMABLE_RUNS || extent(15, 5)) },
  );
});

test('of concurrent requests at the same offset one continues, and the file stays intact', async () => {
  const content = randomBytes(3 * MIB);
  const { owner, upload, path } = await oneFile(content);
  let at = 0;
  while (at < content.length) {
    const length = 1 * MIB;
    const other = randomBytes(length);
    // Others send different bytes at the same offset: the first request wins, and its part stays whole.
    const answers = await Promise.all([
      patch(owner, path, at, content.subarray(at, at + length)),
      patch(owner, path, at, content.subarray(at, at + length)),
      patch(owner, path, at + 1, other),
      patch(owner, path, 0, content.subarray(0, at === 0 ? length : 10)),
    ]);
    const won = answers.filter(({ status }) => status === 204);
    assert.equal(won.length, 1, JSON.stringify(answers.map(({ status, body }) => [status, body])));
    for (const { status, body } of answers)
      if (status !== 204) assert.deepEqual([status, body.error], [409, 'conflict']);
    at += length;
    assert.equal(await offsetOf(owner, path), at);
  }
  assert.equal((await owner.post(`${upload.path}/complete`)).status, 200);
  const [kept] = await db.query<{ sha256: string }>(
    sql`select sha256 from upload_files where upload_id = ${upload.upload_id}`,
  );
  assert.equal(kept?.sha256, sha256Of(content));
});

/** Starts a raw PATCH request and closes the connection after `bytes`. */
async function breakOff(client: Client, path: string, offset: number, bytes: Buffer, announced: number): Promise<void> {
  const { hostname, port } = new URL(world.address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const head = [
    `PATCH ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${client.token}`,
    'Tus-Resumable: 1.0.0',
    `Upload-Offset: ${offset}`,
    'Content-Type: application/offset+octet-stream',
    `Content-Length: ${announced}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  socket.destroy();
}

test('bytes received before a connection broke count, and a client resumes after them', async () => {
  const content = randomBytes(10 * MIB);
  const { owner, upload, file, path } = await oneFile(content);
  await breakOff(owner, path, 0, content.subarray(0, 9 * MIB), content.length);
  await until(
    'the bytes that came count',
    () => offsetOf(owner, path),
    (offset) => offset >= 8 * MIB,
  );
  const at = await offsetOf(owner, path);
  assert.ok(at <= 9 * MIB);
  await sendFile(world.address, owner.token, file);
  assert.equal((await owner.post(`${upload.path}/complete`)).status, 200);
  const [kept] = await db.query<{ sha256: string }>(
    sql`select sha256 from upload_files where upload_id = ${upload.upload_id}`,
  );
  assert.equal(kept?.sha256, sha256Of(content));
});

test('a key revoked during a request sends no more bytes', async () => {
  const content = randomBytes(20 * MIB);
  const { owner, path } = await oneFile(content);
  const { hostname, port } = new URL(world.address);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
  socket.on('error', () => undefined);
  socket.write(
    `PATCH ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n` +
      `Content-Type: application/offset+octet-stream\r\nContent-Length: ${content.length}\r\n\r\n`,
  );
  socket.write(content.subarray(0, 9 * MIB));
  await until(
    'the first part counts',
    () => offsetOf(owner, path),
    (offset) => offset === 8 * MIB,
  );
  await db.query(sql`update api_keys set revoked_at = now() where user_id = ${owner.user_id}`);
  socket.write(content.subarray(9 * MIB));
  await until('the answer is there', () => answer);
  assert.match(answer, /^HTTP\/1\.1 401 /);
  socket.destroy();
  const [row] = await db.query<{ received: number }>(
    sql`select received from upload_files where file_id = ${path.split('/').at(-1)}`,
  );
  assert.equal(row?.received, 8 * MIB, 'no byte counts that came after the revocation');
});

test('an invalid tus request is refused as the protocol says, and none of its bytes count', async () => {
  const content = randomBytes(100);
  const { owner, path } = await oneFile(content);
  const all = content;
  const tus = { 'tus-resumable': '1.0.0' };
  const stream = { 'content-type': 'application/offset+octet-stream' };
  const send = (headers: Record<string, string>, body: Buffer = all) =>
    owner.send('PATCH', path, { headers, body: new Uint8Array(body) });
  const wrong: [string, ReturnType<typeof send>, number, string][] = [
    ['no Tus-Resumable', send({ ...stream, 'upload-offset': '0' }), 412, 'precondition_failed'],
    [
      'another version',
      send({ ...stream, 'upload-offset': '0', 'tus-resumable': '0.2.2' }),
      412,
      'precondition_failed',
    ],
    [
      'another type',
      send({ ...tus, 'upload-offset': '0', 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    ],
    [
      'JSON',
      send({ ...tus, 'upload-offset': '0', 'content-type': 'application/json' }, Buffer.from('{}')),
      415,
      'unsupported_media_type',
    ],
    [
      'a form',
      send({ ...tus, 'upload-offset': '0', 'content-type': 'multipart/form-data; boundary=x' }),
      415,
      'unsupported_media_type',
    ],
    [
      'no body',
      owner.send('PATCH', path, { headers: { ...tus, 'upload-offset': '0' } }),
      415,
      'unsupported_media_type',
    ],
    ['no offset', send({ ...tus, ...stream }), 400, 'invalid_request'],
    ...['-1', '1e1', '0x0', 'x', '9'.repeat(19), '0, 0', '1.0', ''].map(
      (offset) =>
        [`the offset ${offset}`, patch(owner, path, offset, all), 400, 'invalid_request'] as [
          string,
          ReturnType<typeof send>,
          number,
          string,
        ],
    ),
    ['an offset ahead', patch(owner, path, 50, all.subarray(50)), 409, 'conflict'],
    ['an offset far ahead', patch(owner, path, 2 ** 40, all), 409, 'conflict'],
    ['too many bytes', patch(owner, path, 0, Buffer.concat([all, all])), 413, 'payload_too_large'],
    [
      'a checksum of other bytes',
      patch(owner, path, 0, all, { 'upload-checksum': `sha1 ${createHash('sha1').update('x').digest('base64')}` }),
      460,
      'checksum_mismatch',
    ],
    ['an unknown checksum', patch(owner, path, 0, all, { 'upload-checksum': 'crc32 AAAA' }), 400, 'invalid_request'],
    ['no checksum', patch(owner, path, 0, all, { 'upload-checksum': 'sha1' }), 400, 'invalid_request'],
  ];
  for (const [what, sent, status, code] of wrong) {
    const answer = await sent;
    assert.deepEqual([answer.status, answer.body.error], [status, code], what);
    assert.equal(answer.headers.get('tus-resumable'), '1.0.0', what);
    if (status === 412) assert.equal(answer.headers.get('tus-version'), '1.0.0');
  }
  // Without Content-Length, the excess shows only when it arrives.
  const endless = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(80));
    },
  });
  const init = { headers: { ...tus, ...stream, 'upload-offset': '0' }, body: endless, duplex: 'half' };
  const chunked = await owner.send('PATCH', path, init as RequestInit).catch((error) => error);
  assert.ok(chunked instanceof TypeError || chunked.status === 413);
  assert.equal(await offsetOf(owner, path), 0);
  const other = await owner.send('HEAD', path, { headers: { 'tus-resumable': '2.0.0' } });
  assert.equal(other.status, 412);

  for (const algorithm of ['sha1', 'sha256', 'md5']) {
    const at = await offsetOf(owner, path);
    const bytes = content.subarray(at, at + 30);
    const checksum = `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`;
    assert.equal((await patch(owner, path, at, bytes, { 'upload-checksum': checksum })).status, 204);
  }
  const { status, headers } = await owner.send('OPTIONS', path);
  assert.equal(status, 204);
  assert.equal(headers.get('tus-version'), '1.0.0');
  assert.equal(headers.get('tus-extension'), 'expiration,checksum');
  assert.equal(headers.get('tus-checksum-algorithm'), 'sha256,sha1,md5');
  assert.equal(headers.get('tus-max-size'), String(100 * MIB));
});

test('a caller without permission sends no byte, and reaches no file of another upload, wiki or workspace', async () => {
  const { owner, upload, path } = await oneFile(Buffer.from('# Hi'));
  const other = await oneFile(Buffer.from('# Other'));
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const member = await world.member(owner.workspace_id, 'member');
  const bytes = Buffer.from('# Hi');
  const file_id = path.split('/').at(-1);
  const asked: [Client, string, number][] = [
    [world.anonymous, path, 401],
    [viewer, path, 403],
    [other.owner, path, 403],
    [other.owner, `/v1/wikis/${other.owner.wiki_id}/uploads/${upload.upload_id}/files/${file_id}`, 404],
    [other.owner, `${other.upload.path}/files/${file_id}`, 404],
    [owner, `${upload.path}/files/${other.path.split('/').at(-1)}`, 404],
    [owner, `${upload.path}/files/file_00000000000000000000000000`, 404],
  ];
  for (const [client, at, status] of asked) {
    assert.equal((await patch(client, at, 0, bytes)).status, status);
    assert.equal((await client.send('HEAD', at)).status, status);
    assert.equal((await client.send('OPTIONS', at)).status, status);
  }
  for (const verb of ['complete', 'cancel', 'retry']) {
    assert.equal((await other.owner.post(`${upload.path}/${verb}`)).status, 403);
    assert.equal((await viewer.post(`${upload.path}/${verb}`)).status, 403);
    assert.equal(
      (await other.owner.post(`/v1/wikis/${other.owner.wiki_id}/uploads/${upload.upload_id}/${verb}`)).status,
      404,
    );
  }
  assert.equal((await patch(member, path, 0, bytes)).status, 204, 'a member who may upload may continue an upload');
});

test('an announcement beyond the limits is refused with a reason', async () => {
  const owner = await world.owner();
  const path = `/v1/wikis/${owner.wiki_id}/uploads`;
  const file = { filename: 'a.md', byte_size: 1 };
  const wrong: [unknown, number, string][] = [
    [[{ ...file, byte_size: 100 * MIB + 1 }], 413, 'payload_too_large'],
    [Array.from({ length: 11 }, () => ({ ...file, byte_size: 100 * MIB })), 413, 'payload_too_large'],
    [Array.from({ length: 1_001 }, () => file), 413, 'payload_too_large'],
    [[{ ...file, byte_size: 0, sha256: 'a'.repeat(64) }], 400, 'invalid_request'],
    [[], 422, 'validation_error'],
    [[{ ...file, byte_size: -1 }], 422, 'validation_error'],
    [[{ ...file, byte_size: 2 ** 60 }], 422, 'validation_error'],
    [[{ ...file, byte_size: '1' }], 422, 'validation_error'],
    [[{ ...file, sha256: 'A'.repeat(64) }], 422, 'validation_error'],
    [[{ byte_size: 1 }], 422, 'validation_error'],
    [[{ ...file, filename: '' }], 422, 'validation_error'],
  ];
  for (const [files, status, code] of wrong) {
    const answer = await owner.post(path, { files });
    assert.deepEqual([answer.status, answer.body.error], [status, code], JSON.stringify(files).slice(0, 100));
  }
  assert.deepEqual((await owner.get(path)).body, []);
  const made = await owner.post(path, { files: [{ ...file, filename: '../../etc\\x.md' }] });
  assert.deepEqual(made.body.files[0].filename, 'etc/x.md');
  assert.deepEqual(Object.keys(made.body.files[0]), ['file_id', 'filename', 'upload_url']);
});

test('bytes that do not match the announced hash fail the upload, whether sent at once or in parts', async () => {
  for (const pieces of [1, 3]) {
    const { owner, upload, path } = await oneFile(Buffer.alloc(30, 'a'));
    for (let i = 0; i < pieces; i += 1) {
      const answer = await patch(owner, path, (30 / pieces) * i, Buffer.alloc(30 / pieces, 'b'));
      assert.equal(answer.status, i === pieces - 1 ? 460 : 204);
    }
    const { body } = await owner.get(upload.path);
    assert.deepEqual([body.status, body.status_label], ['failed', 'failed']);
    assert.match(body.error, /^checksum_mismatch: /);
    assert.ok(body.finished_at);
    for (const answer of [
      await patch(owner, path, 0, Buffer.alloc(30, 'a')),
      await owner.send('GET', path),
      await owner.post(`${upload.path}/complete`),
      await owner.post(`${upload.path}/retry`),
      await owner.post(`${upload.path}/cancel`),
    ]) {
      assert.deepEqual([answer.status, answer.body.error], [409, 'upload_state']);
    }
    const { body: events } = await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events`);
    const failed = events.filter((event: { type: string }) => event.type === 'upload.failed');
    assert.equal(failed.length, 1);
  }
});

longTest(
  'cancelling an open upload discards its bytes, and a cancelled upload with all bytes can be retried',
  async () => {
    const { owner, upload, path } = await oneFile(Buffer.alloc(30, 'a'));
    await patch(owner, path, 0, Buffer.alloc(10, 'a'));
    const cancelled = await owner.post(`${upload.path}/cancel`);
    assert.deepEqual(
      [cancelled.status, cancelled.body.status, cancelled.body.error],
      [200, 'failed', 'cancelled: the upload was cancelled'],
    );
    assert.deepEqual(await db.query(sql`select 1 from upload_parts where upload_id = ${upload.upload_id}`), []);
    for (const verb of ['cancel', 'complete', 'retry']) {
      assert.equal((await owner.post(`${upload.path}/${verb}`)).body.error, 'upload_state', verb);
    }
    assert.equal((await patch(owner, path, 10, Buffer.alloc(20, 'a'))).body.error, 'upload_state');

    const again = await announce(owner, owner.wiki_id, { 'again.md': Buffer.from('# Again') });
    await sendFile(world.address, owner.token, again.files[0] as (typeof again.files)[0]);
    assert.equal((await owner.post(`${again.path}/cancel`)).body.status, 'failed');
    const retried = await owner.post(`${again.path}/retry`);
    assert.deepEqual([retried.body.status, retried.body.error, retried.body.finished_at], ['queued', '', undefined]);
    assert.ok((await sourcesOf(owner, owner.wiki_id, again))['again.md']);
    assert.equal((await owner.post(`${again.path}/retry`)).body.error, 'upload_state');
  },
);

test('an upload without new bytes for 24 hours expires, and its parts are removed', async () => {
  const { owner, upload, path } = await oneFile(Buffer.alloc(30, 'a'));
  const sent = await patch(owner, path, 0, Buffer.alloc(10, 'a'));
  const expires = Date.parse(String(sent.headers.get('upload-expires')));
  assert.ok(Math.abs(expires - Date.now() - 24 * 3_600_000) < 60_000, 'Upload-Expires is 24 hours from now');
  await db.query(
    sql`update uploads set updated_at = now() - interval '25 hours' where upload_id = ${upload.upload_id}`,
  );
  const late = await patch(owner, path, 10, Buffer.alloc(20, 'a'));
  assert.deepEqual([late.status, late.body.error], [409, 'upload_state']);
  assert.equal((await owner.post(`${upload.path}/complete`)).body.error, 'upload_state');
  assert.equal((await owner.send('HEAD', path)).status, 409);

  await runScheduled(world, expireUploads);
  const { body } = await owner.get(upload.path);
  assert.equal(body.error, 'expired: no bytes were received for 24 hours');
  assert.deepEqual(await db.query(sql`select 1 from upload_parts where upload_id = ${upload.upload_id}`), []);
});

test('old orphaned parts in a folder store are removed, and parts of an upload stay', async () => {
  const { owner, upload, path } = await oneFile(Buffer.alloc(30, 'a'));
  await patch(owner, path, 0, Buffer.alloc(10, 'a'));
  const parts = join(DATA_DIR, 'blobs/parts');
  await writeFile(join(parts, 'lost'), 'x');
  await writeFile(join(parts, 'new'), 'x');
  const old = new Date(Date.now() - 2 * 3_600_000);
  for (const name of await readdir(parts)) if (name !== 'new') await utimes(join(parts, name), old, old);
  await runScheduled(world, removeOrphanedParts);
  const left = await readdir(parts);
  assert.equal(left.includes('lost'), false);
  assert.ok(left.includes('new'), 'its row may come yet');
  assert.equal((await patch(owner, path, 10, Buffer.alloc(20, 'a'))).status, 204);
  assert.equal((await owner.post(`${upload.path}/complete`)).status, 200);
});

test('an upload lists the received bytes of each file, and later its result', async () => {
  const { owner, upload, file, path } = await oneFile(markdown(100));
  const list = (query = '') => owner.get(`${upload.path}/files${query}`);
  await patch(owner, path, 0, file.content.subarray(0, 7));
  const { body: before } = await list();
  assert.deepEqual(before, [
    {
      file_id: file.file_id,
      filename: 'a.md',
      byte_size: file.content.length,
      received: 7,
      status: 'pending',
      error: '',
      source_id: '',
      page_path: '',
      page_change: '',
    },
  ]);
  await patch(owner, path, 7, file.content.subarray(7));
  await owner.post(`${upload.path}/complete`);
  await waitForUpload(owner, owner.wiki_id, upload.upload_id);
  const [after] = (await list('?status=done')).body;
  assert.deepEqual([after.received, after.page_path, after.page_change], [file.content.length, 'a', 'new']);
  assert.match(after.source_id, /^source_/);
  assert.deepEqual((await list('?status=failed')).body, []);
  assert.deepEqual((await list('?offset=1')).body, []);
  const stranger = await world.owner();
  assert.equal((await stranger.get(`${upload.path}/files`)).status, 403);
  const elsewhere = `/v1/wikis/${stranger.wiki_id}/uploads/${upload.upload_id}/files`;
  assert.equal((await stranger.get(elsewhere)).status, 404);
});

test('the files of an archive are listed after it, each with its result', async () => {
  const owner = await world.owner();
  const made = await world.upload(owner, owner.wiki_id, {
    'all.zip': zipOf([
      ['in/one.md', '# One'],
      ['in/none.txt', ''],
    ]),
  });
  const { body } = await owner.get(`/v1/wikis/${owner.wiki_id}/uploads/${made.body.upload_id}/files`);
  const said = body.map((file: Record<string, string | number>) => [
    file.filename,
    file.status,
    file.page_path,
    file.received === file.byte_size,
  ]);
  assert.deepEqual(said, [
    ['all.zip', 'done', '', true],
    ['in/one.md', 'done', 'in/one', true],
    ['in/none.txt', 'failed', '', true],
  ]);
});
