import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { truncate, unlink } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp } from '../../../test/clean-up.ts';
import { longTest } from '../../../test/extent.ts';
import { pdfOfContents } from '../../../test/pdf.ts';
import { makeFolder } from '../../../test/process.ts';
import { startS3Server } from '../../../test/s3-server.ts';
import { makeDatabase, openWorld, waitForUpload } from '../../../test/world.ts';
import { zipOf } from '../../../test/zip.ts';
import { sql } from '../../platform/db/sql.ts';

/** A unique document of several hundred kilobytes. */
function largePdf(): Buffer {
  const noise = randomBytes(300_000).toString('hex').replace(/.{60}/g, '%$&\n');
  return pdfOfContents([Buffer.from(`${noise}\nBT /F1 10 Tf 50 700 Td (What the paper says.) Tj ET`)]);
}

const s3 = await startS3Server();
cleanUp(() => s3.stop());

/** Starts a proxy for the bucket that cuts the connection in the middle of the answers selected by `isCut`. */
async function startCutting(isCut: (n: number) => boolean): Promise<{ url: string; answers(): number }> {
  let answers = 0;
  const url = new URL(s3.url);
  const { hostname: host } = url;
  const port = Number(url.port);
  const server = createServer((client) => {
    const onward = connect({ port, host });
    let come = 0;
    client.on('data', () => {
      come = 0;
    });
    client.pipe(onward);
    onward.on('data', (chunk) => {
      const before = come;
      come += chunk.length;
      if (before <= 100_000 && come > 100_000 && isCut((answers += 1))) return client.destroy();
      client.write(chunk);
    });
    onward.on('close', () => client.destroy()).on('error', () => undefined);
    client.on('close', () => onward.destroy()).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(() => server.close());
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, answers: () => answers };
}

longTest(
  'a bucket that breaks off while a document is read fails no file: the job is taken up again until it has all',
  async () => {
    // The first answer says what the file is; the second one goes to the process that reads it.
    const cutting = await startCutting((n) => n === 1 || n === 3 || n === 4);
    const world = await openWorld({ STORAGE_URL: cutting.url });
    const owner = await world.owner();
    const { body: upload } = await world.upload(owner, owner.wiki_id, { 'paper.pdf': largePdf() });
    assert.deepEqual([upload.status, upload.source_count], ['completed', 1], JSON.stringify(upload));
    assert.equal(cutting.answers(), 6, 'every truncated read must have been retried');
    const { body: page } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/paper`);
    assert.equal(page.markdown, 'What the paper says.\n');
    const [job] = await world.db.query(sql`select failures, error from jobs where upload_id = ${upload.upload_id}`);
    assert.deepEqual(job, { failures: 0, error: '' }, 'a failure of the store does not count as a failure of the job');
  },
);

test('a file whose stored bytes are missing or truncated fails alone, with the reason', async () => {
  const DATA_DIR = join(await makeFolder(), 'data');
  const DATABASE_URL = await makeDatabase();
  const world = await openWorld({ DATA_DIR, DATABASE_URL, ROLE: 'web' });
  const owner = await world.owner();
  const contents = { 'half.pdf': largePdf(), 'gone.pdf': largePdf(), 'gone.zip': zipOf([['a.md', '# A\n']]) };
  const form = new FormData();
  for (const [name, bytes] of Object.entries(contents)) form.append('files', new Blob([new Uint8Array(bytes)]), name);
  form.append('files', new Blob(['# Sound\n']), 'sound.md');
  const { body: sent } = await owner.send('POST', `/v1/wikis/${owner.wiki_id}/uploads`, { body: form });
  const rows = await world.db.query<{ filename: string; sha256: string }>(sql`
    select filename, sha256 from upload_files where upload_id = ${sent.upload_id}`);
  for (const { filename, sha256 } of rows) {
    const path = join(DATA_DIR, 'blobs', sha256.slice(0, 2), sha256);
    if (filename.startsWith('half')) await truncate(path, 150_000);
    if (filename.startsWith('gone')) await unlink(path);
  }
  await openWorld({ DATA_DIR, DATABASE_URL, ROLE: 'worker' });
  await waitForUpload(owner, owner.wiki_id, sent.upload_id);
  const files = await world.db.query<{ filename: string; error: string }>(sql`
    select filename, error from upload_files where upload_id = ${sent.upload_id} order by filename`);
  const gone = 'bytes_missing: the stored bytes are missing; upload the file again';
  assert.deepEqual(Object.fromEntries(files.map(({ filename, error }) => [filename, error])), {
    'gone.pdf': gone,
    'gone.zip': gone,
    'half.pdf': gone,
    'sound.md': '',
  });
});
