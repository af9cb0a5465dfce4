import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { cleanUp } from '../../../../test/clean-up.ts';
import { collect } from '../../../../test/collect.ts';
import { makeFolder } from '../../../../test/process.ts';
import { announce, offsetOf, patch, sendFile } from '../../../../test/resumable.ts';
import { startS3Proxy, startS3Server } from '../../../../test/s3-server.ts';
import { until } from '../../../../test/until.ts';
import { openWorld, waitForUpload } from '../../../../test/world.ts';
import { PACKAGE } from '../../core/package/package-files.ts';
import { type BlobStore, StorageUnavailable } from './blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';
import { openObjects } from './objects.ts';
import { openS3Blobs } from './s3-blobs.ts';
import { readS3Url } from './s3-place.ts';

const MIB = 2 ** 20;
const folder = await makeFolder();
const s3 = await startS3Server();
cleanUp(() => s3.stop());
const inBucket = await openS3Blobs(readS3Url(s3.url), join(folder, 'incoming'));
cleanUp(() => inBucket.close());
const stores: Record<string, BlobStore> = {
  'a folder': await openFolderBlobs(join(folder, 'blobs')),
  'a bucket': inBucket,
};

const receive = (blobs: BlobStore, content: Buffer) => blobs.receive(Readable.from([content]));
const asHashed = (content: Buffer) => ({ sha256: hashOf(content), content });
function openClient(): S3Client {
  const { endpoint, access_key, secret_key, region } = readS3Url(s3.url);
  const credentials = { accessKeyId: access_key, secretAccessKey: secret_key };
  return new S3Client({ endpoint, region, credentials, forcePathStyle: true });
}
const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

for (const [where, blobs] of Object.entries(stores)) {
  test(`${where} returns blobs of any size, whole and by range, and accepts the same content twice`, async () => {
    for (const size of [0, 1, 100_000, 20 * MIB + 1]) {
      const content = randomBytes(size);
      for (let time = 0; time < 2; time += 1) {
        const blob = await receive(blobs, content);
        assert.deepEqual([blob.sha256, blob.byte_size], [hashOf(content), size]);
        await blob.keep();
        assert.ok((await blobs.read(blob.sha256)).equals(content));
      }
      const range = { start: 0, end: 4_095 };
      assert.ok((await buffer(await blobs.stream(hashOf(content), range))).equals(content.subarray(0, 4_096)));
      if (size < 20) continue;
      const part = await buffer(await blobs.stream(hashOf(content), { start: size - 7, end: size - 1 }));
      assert.ok(part.equals(content.subarray(-7)));
    }
  });

  test(`${where} stores a batch of contents, each under its own hash, even if some are already stored`, async () => {
    const contents = [...Array(40).keys()].map((i) => randomBytes(i * 100)).concat(randomBytes(3 * MIB));
    const twice = [...contents, ...contents.slice(0, 20)];
    await blobs.keepAll(twice.map(asHashed));
    await blobs.keepAll(contents.map(asHashed));
    for (const content of contents) assert.ok((await blobs.read(hashOf(content))).equals(content));
    await blobs.keepAll([]);
  });

  test(`${where} throws ENOENT for missing blobs, and keeps neither discarded nor aborted streams`, async () => {
    const content = randomBytes(100);
    await (await receive(blobs, content)).discard();
    await assert.rejects(blobs.read(hashOf(content)), { code: 'ENOENT' });
    await assert.rejects(blobs.stream(hashOf(content)), { code: 'ENOENT' });
    await assert.rejects(blobs.parts.stream('nothing'), { code: 'ENOENT' });
    await blobs.parts.remove('nothing');
    const broken = Readable.from(
      (function* () {
        yield content;
        throw new Error('broken');
      })(),
    );
    await assert.rejects(blobs.receive(broken), /broken/);
  });

  test(`${where} lists all blobs with their sizes, and removes blobs until the deadline`, async () => {
    const contents = [0, 1, 100_000, 20 * MIB].map((size) => randomBytes(size));
    await blobs.keepAll(contents.map(asHashed));
    await (await receive(blobs, randomBytes(10))).keepAsPart('no-blob');
    const listed = async () => new Map((await collect(blobs.list())).map((blob) => [blob.sha256, blob.byte_size]));
    const before = await listed();
    assert.deepEqual(
      contents.map((content) => before.get(hashOf(content))),
      contents.map(({ length }) => length),
    );
    const gone = contents.slice(1).map(hashOf);
    await assert.rejects(blobs.removeAll(gone, Date.now() - 1), StorageUnavailable);
    assert.deepEqual(await listed(), before);
    await blobs.removeAll([...gone, hashOf(randomBytes(10))], Date.now() + 600_000);
    for (const sha256 of gone) {
      await assert.rejects(blobs.read(sha256), { code: 'ENOENT' });
      before.delete(sha256);
    }
    assert.deepEqual(await listed(), before);
    await blobs.parts.remove('no-blob');
  });

  test(`${where} keeps parts by name until they are removed, and lists the old ones`, async () => {
    const content = randomBytes(9 * MIB);
    await (await receive(blobs, content)).keepAsPart('one');
    await (await receive(blobs, Buffer.from('two'))).keepAsPart('two');
    assert.ok((await buffer(await blobs.parts.stream('one'))).equals(content));
    await assert.rejects(blobs.read(hashOf(content)), { code: 'ENOENT' });
    assert.deepEqual((await collect(blobs.parts.olderThan(-60_000))).sort(), ['one', 'two']);
    assert.deepEqual(await collect(blobs.parts.olderThan(60_000)), []);
    await blobs.parts.remove('one');
    assert.deepEqual(await collect(blobs.parts.olderThan(-60_000)), ['two']);
    await blobs.parts.remove('two');
  });
}

test('folders of files and of backups are readable only by the user of the service', async () => {
  const root = join(folder, 'above', 'backups');
  const objects = await openObjects('BACKUP_URL', `file://${root}`, '');
  await objects.put('of/one/manifest', Readable.from(['x']));
  for (const made of [root, join(root, 'of'), join(root, 'of', 'one'), join(folder, 'blobs')]) {
    assert.equal((await stat(made)).mode & 0o777, 0o700, made);
  }
});

test('unfinished uploads to a bucket are removed after a day, and other objects are kept', async () => {
  const { bucket: Bucket } = readS3Url(s3.url);
  const client = openClient();
  const begin = async (Key: string) => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: Buffer.alloc(MIB) }));
    return Key;
  };
  const unfinished = async () => {
    const left: string[] = [];
    for (const Prefix of ['folder/blobs/', 'folder/parts/', 'other/']) {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
      left.push(...Uploads.map(({ Key = '' }) => Key));
    }
    return left;
  };
  try {
    for (const name of ['aa/1', 'bb/2', 'cc/3', 'dd/4', 'ee/5']) await begin(`folder/blobs/${name}`);
    const foreign = await begin('other/blobs/aa/1');
    await begin('folder/parts/one');
    await inBucket.removeUnfinished(24 * 3_600_000);
    assert.equal((await unfinished()).length, 4, 'uploads begun today stay (the list shows two of them)');
    await inBucket.removeUnfinished(-60_000);
    assert.deepEqual(await unfinished(), [foreign]);
  } finally {
    client.destroy();
  }
});

test('only the part whose connection breaks is sent again; if it keeps breaking, nothing of the file stays in the bucket', async (t) => {
  const parts: string[] = [];
  let breaks = 1;
  // Closes the connections that carry the second part.
  const proxy = await startS3Proxy(s3, ({ url = '', socket }) => {
    const part = new URL(url, s3.url).searchParams.get('partNumber');
    if (part) parts.push(part);
    if (part === '2' && breaks-- > 0) socket.destroy();
  });
  const place = readS3Url(proxy.url);
  const blobs = await openS3Blobs(place, join(folder, 'proxied'));
  t.after(() => {
    blobs.close();
    proxy.stop();
  });
  const content = randomBytes(20 * MIB);
  await (await receive(blobs, content)).keep();
  assert.deepEqual(parts, ['1', '2', '2', '3']);
  assert.ok((await blobs.read(hashOf(content))).equals(content));

  breaks = 2;
  const broken = await receive(blobs, randomBytes(20 * MIB));
  await assert.rejects(broken.keep(), StorageUnavailable);
  await broken.discard();
  await assert.rejects(blobs.read(broken.sha256), { code: 'ENOENT' });
  const client = openClient();
  t.after(() => client.destroy());
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: place.bucket }));
  assert.deepEqual(
    Uploads.filter(({ Key = '' }) => Key.endsWith(broken.sha256)),
    [],
  );
});

test('a process without a home directory or a known user can use a bucket', async () => {
  const client = new URL('src/platform/providers/storage/s3-bucket.ts', PACKAGE).href;
  const place = JSON.stringify(readS3Url(s3.url));
  const script = `
    const { openBucket } = await import('${client}');
    console.log(await openBucket(${place}).sizeOf('blobs/none'));`;
  const user = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
  for (const env of [{}, { HOME: '/proc/1/no-home' }]) {
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: '/', ...user });
    assert.equal(stdout, 'undefined\n');
  }
});

test('received files do not stay on the machine', async () => {
  assert.deepEqual(await readdir(join(folder, 'incoming')), []);
  assert.deepEqual(await readdir(join(folder, 'blobs/incoming')), []);
});

test('a STORAGE_URL locates the bucket, and an invalid one is refused with an error that names the option', () => {
  assert.deepEqual(readS3Url('s3://key:a%2Fb@s3.example.com:9000/wiki/some/folder?region=eu-1&path_style=false'), {
    endpoint: 'https://s3.example.com:9000',
    region: 'eu-1',
    bucket: 'wiki',
    prefix: 'some/folder/',
    path_style: false,
    access_key: 'key',
    secret_key: 'a/b',
  });
  assert.equal(readS3Url('s3://k:s@127.0.0.1:9000/wiki').endpoint, 'http://127.0.0.1:9000');
  assert.equal(readS3Url('s3://k:s@minio:9000/wiki?tls=false').endpoint, 'http://minio:9000');
  for (const text of [
    's3://minio:9000/wiki',
    's3://k:s@minio:9000/',
    's3://k@minio/wiki',
    's3://k:s@minio/wiki?tls=no',
  ]) {
    assert.throws(() => readS3Url(text), /^Error: STORAGE_URL /);
  }
});

test('while the bucket is unavailable requests get 503 and nothing is stored in part; then everything continues by itself', async () => {
  const world = await openWorld({ STORAGE_URL: s3.url });
  const owner = await world.owner();
  const { wiki_id } = owner;
  const { body: page } = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'A page', markdown: 'x' });
  const form = () => {
    const body = new FormData();
    body.append('file', new Blob(['text']), 'a.txt');
    return { body };
  };
  const attachments = `/v1/wikis/${wiki_id}/pages/${page.page_id}/attachments`;
  const { body: attached } = await owner.send('POST', attachments, form());
  const content = Buffer.from(`# Late\n\n${'words '.repeat(200)}`);
  const upload = await announce(owner, wiki_id, { 'late.md': content });
  const [file] = upload.files;
  assert.ok(file);
  assert.equal((await patch(owner, file.path, 0, content.subarray(0, 500))).status, 204);
  const queued = await announce(owner, wiki_id, { 'queued.md': content });
  await sendFile(world.address, owner.token, queued.files[0] ?? file);

  await s3.stop();
  const before = (await owner.get(`/v1/wikis/${wiki_id}/uploads`)).body;
  const completed = await owner.post(`${queued.path}/complete`);
  assert.equal(completed.body.status, 'queued', 'completing needs no stored bytes');
  for (const { status, body, headers } of [
    await owner.send('POST', `/v1/wikis/${wiki_id}/uploads`, form()),
    await owner.send('POST', attachments, form()),
    await patch(owner, file.path, 500, content.subarray(500, 600)),
    await patch(owner, file.path, 500, content.subarray(500)),
    await owner.get(`/v1/wikis/${wiki_id}/attachments/${attached.attachment_id}`),
    await owner.post(`/v1/wikis/${wiki_id}/uploads`, { files: [{ filename: 'empty.md', byte_size: 0 }] }),
  ]) {
    assert.deepEqual([status, body.error], [503, 'storage_unavailable']);
    assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.equal(await offsetOf(owner, file.path), 500);
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/uploads`)).body.length, before.length);
  assert.equal((await owner.get(attachments)).body.length, 1);
  await until(
    'the job has tried the bucket',
    async () => (await owner.get(`/v1/wikis/${wiki_id}/jobs?upload_id=${queued.upload_id}`)).body[0],
    ({ attempt }) => attempt > 1,
  );

  await s3.start();
  assert.equal((await waitForUpload(owner, wiki_id, queued.upload_id)).body.status, 'completed');
  assert.equal((await patch(owner, file.path, 500, content.subarray(500))).status, 204);
  await owner.post(`${upload.path}/complete`);
  assert.equal((await waitForUpload(owner, wiki_id, upload.upload_id)).body.status, 'completed');
  const range = await owner.get(`/v1/wikis/${wiki_id}/attachments/${attached.attachment_id}`, { range: 'bytes=1-2' });
  assert.deepEqual([range.status, range.body], [206, 'ex']);
});

test('a bucket listing that repeats or lacks its continuation token fails, and its reader can abort an endless listing', async (t) => {
  let requests = 0;
  let next: () => string;
  // Answers with empty lists that claim to be truncated.
  const endless = createServer((_, response) => {
    requests += 1;
    const place = next();
    const more =
      place && ['NextContinuationToken', 'NextKeyMarker'].map((name) => `<${name}>${place}</${name}>`).join('');
    response.end(`<List><IsTruncated>true</IsTruncated>${more}</List>`);
  });
  await once(endless.listen(0, '127.0.0.1'), 'listening');
  const { port } = endless.address() as AddressInfo;
  const blobs = await openS3Blobs(readS3Url(`s3://k:s@127.0.0.1:${port}/wiki`), join(folder, 'endless'));
  t.after(() => {
    blobs.close();
    endless.closeAllConnections();
    endless.close();
  });
  const readers = (signal?: AbortSignal) => [
    () => collect(blobs.list(signal)),
    () => collect(blobs.parts.olderThan(0, signal)),
    () => blobs.removeUnfinished(0, signal),
  ];
  let turn = 0;
  for (const places of [() => '', () => 'same', () => `turn-${turn++ % 2}`]) {
    next = places;
    for (const read of readers()) {
      requests = 0;
      await assert.rejects(read(), StorageUnavailable);
      assert.ok(requests <= 4, `${requests} requests`);
    }
  }
  let reader = new AbortController();
  next = () => {
    if (requests === 5) reader.abort();
    return `${requests}`;
  };
  for (const [index] of readers().entries()) {
    reader = new AbortController();
    requests = 0;
    await assert.rejects(readers(reader.signal)[index] as () => Promise<unknown>, StorageUnavailable);
    assert.ok(requests <= 6, `${requests} requests`);
  }
});

test('errors of the store have their own type, whatever the bucket responds', async () => {
  const nowhere = await openS3Blobs(readS3Url(s3.url.replace('/wiki/', '/nothing/')), join(folder, 'nowhere'));
  const forbidden = await openS3Blobs(readS3Url(s3.url.replace('//S3RVER:', '//wrong:')), join(folder, 'forbidden'));
  for (const blobs of [nowhere, forbidden]) {
    const blob = await receive(blobs, Buffer.from('x'));
    await assert.rejects(blob.keep(), StorageUnavailable);
    await blob.discard();
    await assert.rejects(blobs.stream(blob.sha256), StorageUnavailable);
    blobs.close();
  }
});
