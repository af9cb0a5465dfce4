import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { sql } from '../src/platform/db/sql.ts';
import { PNG } from '../test/archives.ts';
import { assertAccessible, openWatched } from '../test/assert-page.ts';
import { skip } from '../test/browser.ts';
import { openBrowserFor } from '../test/browser-visitor.ts';
import { longTest } from '../test/extent.ts';
import { makeFolder } from '../test/process.ts';
import { until } from '../test/until.ts';
import { openWorld } from '../test/world.ts';

const MIB = 2 ** 20;
const world = await openWorld();
const folder = await makeFolder();
/** A text, so that it becomes a source; random words, so that no two parts are equal. */
const large = Buffer.from(`# Large\n\n${randomBytes(10 * MIB).toString('hex')}\n`);
await mkdir(join(folder, 'notes'));
await writeFile(join(folder, 'notes/large.md'), large);
await writeFile(join(folder, 'notes/small.md'), '# Small\n\nSee [large](large.md).\n');
await writeFile(join(folder, 'notes/empty.txt'), '');

async function openUploader() {
  const owner = await world.owner();
  const { body } = await owner.get('/v1/overview');
  const api = `/v1/wikis/${body.wikis[0].wiki_id}`;
  const root = `${world.address}/${body.session.organizations[0].slug}/${body.wikis[0].slug}`;
  const context = await openBrowserFor(world, owner.user_id);
  const { page, complaints } = await openWatched(context);
  await page.goto(`${root}/-/upload`);
  await page.locator('html.scripted').waitFor();
  return { owner, api, root, context, page, complaints };
}

const chooseFolder = (page: Page) => page.locator('input[webkitdirectory]').setInputFiles(join(folder, 'notes'));
const panel = (page: Page) => page.getByRole('region', { name: 'Upload' });

/** Records the tus requests of this page with their offsets. */
function watchBytes(page: Page): { offset: number; address: string }[] {
  const sent: { offset: number; address: string }[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'PATCH') return;
    sent.push({ offset: Number(request.headers()['upload-offset']), address: request.url() });
  });
  return sent;
}

test('an upload is paused, survives a reload, and is resumed with the same files', { skip }, async (t) => {
  const { owner, api, root, page, complaints } = await openUploader();
  // Hold requests after the first part, so that there is something to pause.
  let isHeld = true;
  await page.route('**/files/file_*', async (route) => {
    const offset = Number((await route.request().allHeaders())['upload-offset'] ?? 0);
    if (isHeld && route.request().method() === 'PATCH' && offset > 0) return;
    await route.continue();
  });

  await t.test('the progress of each file is shown', async () => {
    await chooseFolder(page);
    await panel(page).getByText('sent', { exact: true }).first().waitFor();
    await panel(page).getByText('39 %').waitFor();
    assert.equal(await panel(page).getByRole('status').textContent(), 'Sending');
    await assertAccessible(page, 'sending');
  });

  await t.test('an upload is paused and continued', async () => {
    await panel(page).getByRole('button', { name: 'Pause' }).click();
    await panel(page).getByRole('button', { name: 'Continue' }).waitFor();
    assert.equal(await panel(page).getByRole('status').textContent(), 'Paused');
    await assertAccessible(page, 'paused');
  });

  await t.test('after a reload the upload waits for its files, and accepts no others', async () => {
    isHeld = false;
    await page.reload();
    await panel(page).getByText('Choose the same files again').waitFor();
    assert.equal(await panel(page).getByRole('status').textContent(), 'Not finished');
    await assertAccessible(page, 'not finished');
    const { body: uploads } = await owner.get(`${api}/uploads`);
    assert.deepEqual(
      uploads.map((upload: { status: string }) => upload.status),
      ['uploading'],
    );
  });

  await t.test('choosing the same files resumes the upload: no bytes are sent twice, and all are intact', async () => {
    const { body: uploads } = await owner.get(`${api}/uploads`);
    const { body: files } = await owner.get(`${api}/uploads/${uploads[0].upload_id}/files`);
    const before = files.find(({ filename }: { filename: string }) => filename.endsWith('large.md'));
    assert.equal(before.received, 8 * MIB);
    const sent = watchBytes(page);
    await chooseFolder(page);
    await page.getByRole('heading', { level: 1, name: 'Done' }).waitFor();
    const offsets = sent.filter(({ address }) => address.endsWith(before.file_id)).map(({ offset }) => offset);
    assert.deepEqual(offsets, [8 * MIB, 16 * MIB]);
    assert.equal(sent.length, 2, 'no other file was sent again');
    // The file is too long to be read, so only the blob proves that all of it arrived.
    const kept = await world.db.query(sql`
      select from blobs where sha256 = ${createHash('sha256').update(large).digest('hex')}`);
    assert.equal(kept.length, 1);
    assert.equal((await owner.get(`${api}/uploads`)).body.length, 1);
  });

  await t.test('the outcome of each file is shown', async () => {
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    assert.match((await row('notes/small.md').first().textContent()) ?? '', /Page created/);
    await page.getByRole('heading', { name: 'Not used' }).waitFor();
    await assertAccessible(page, 'done');
    await row('notes/small.md').getByRole('link', { name: 'Page created' }).click();
    await page.getByRole('heading', { level: 1, name: 'Small' }).waitFor();
    await page.goto(`${root}/-/upload`);
    await page.locator('html.scripted').waitFor();
    assert.equal(await panel(page).count(), 0, 'a finished upload is not offered again');
  });

  assert.deepEqual(complaints, []);
});

longTest('a broken connection is retried, and a cancelled upload is gone', { skip }, async () => {
  const { owner, api, page } = await openUploader();
  let breaks = 2;
  let answered = '';
  const asked: string[] = [];
  await page.route('**/files/file_*', async (route) => {
    if (route.request().url() === answered) asked.push(route.request().method());
    // An answer without progress does not count: the client must ask for the offset before it sends more.
    if (route.request().method() === 'PATCH' && answered === '') {
      answered = route.request().url();
      return route.fulfill({ status: 204, headers: { 'upload-offset': '0' } });
    }
    if (route.request().method() === 'PATCH' && breaks-- > 0) return route.abort('connectionreset');
    if (route.request().method() === 'PATCH' && breaks < -1) return;
    await route.continue();
  });
  await chooseFolder(page);
  await panel(page).getByText('sent', { exact: true }).first().waitFor();
  await until('what the service has is asked for', () => asked[0]);
  assert.equal(asked[0], 'GET');
  await panel(page).getByRole('button', { name: 'Cancel' }).click();
  await panel(page).getByText('Cancelled').waitFor();
  const { body: uploads } = await owner.get(`${api}/uploads`);
  assert.deepEqual(
    [uploads.length, uploads[0].status, uploads[0].error],
    [1, 'failed', 'cancelled: the upload was cancelled'],
  );
  await page.reload();
  await page.locator('html.scripted').waitFor();
  assert.equal(await panel(page).count(), 0);
});

test('each new file is sent without asking first, and a refusal is shown in the words of the service', {
  skip,
}, async () => {
  const { page } = await openUploader();
  const methods: string[] = [];
  const announced = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/uploads'));
  await page.getByLabel('Keep in sync with this folder').check();
  const message = 'The files of this workspace would be too many.';
  await page.route('**/files/file_*', async (route) => {
    methods.push(route.request().method());
    await route.fulfill({ status: 422, json: { error: 'too_many', message, request_id: 'req_1' } });
  });
  await chooseFolder(page);
  await panel(page).getByRole('alert').waitFor();
  assert.equal(await panel(page).getByRole('alert').textContent(), `${message} (request req_1)`);
  assert.deepEqual([...new Set(methods)], ['PATCH']);
  assert.equal((await announced).postDataJSON().mode, 'sync', 'what was chosen is in the announcement');
  assert.equal(await panel(page).getByRole('status').textContent(), 'Stopped');
});

test('of its hidden files a folder sends only files that a text embeds, and names the others', { skip }, async () => {
  const { owner, api, page } = await openUploader();
  const docs = join(folder, 'docs');
  await mkdir(join(docs, '.gitbook/assets'), { recursive: true });
  await writeFile(join(docs, 'README.md'), '# Home\n\n<img src=".gitbook/assets/a%20b.png" alt="">\n');
  await writeFile(join(docs, '.gitbook/assets/a b.png'), PNG);
  await writeFile(join(docs, '.env'), 'SECRET=1\n');
  await writeFile(join(docs, '.DS_Store'), '\0');
  await page.locator('input[webkitdirectory]').setInputFiles(docs);
  await panel(page).getByText('2 files left out (hidden or system files): ').waitFor();
  await panel(page).getByText('docs/.env').waitFor();
  await panel(page).getByRole('link', { name: 'Status of the upload' }).click();
  await page.getByText('1 file attached to pages that show them').waitFor();
  const { body } = await owner.get(`${api}/pages/path/docs`);
  assert.match(body.html, /<img src="\/v1\/wikis/);
});

longTest('a running job shows its progress, and a failed one can be retried', { skip }, async () => {
  const { owner, api, root, page, complaints } = await openUploader();
  const made = await world.upload(owner, api.split('/').at(-1) ?? '', { 'empty.txt': '' });
  assert.equal(made.body.status, 'failed');
  // The test acts as another worker that holds the lease.
  await world.db.query(sql`
    update uploads set status = 'queued', error = '', summary = '', finished_at = null where upload_id = ${made.body.upload_id}`);
  await world.db.query(sql`
    insert into workers (worker_id, alive_until) values ('elsewhere', now() + interval '1 hour')`);
  const [job] = await world.db.query<{ job_id: string }>(sql`
    update jobs set status = 'running', progress = 10, finished_at = null, worker_id = 'elsewhere'
    where upload_id = ${made.body.upload_id} returning job_id`);
  assert.ok(job);
  await page.goto(`${root}/-/uploads/${made.body.upload_id}`);
  await page.locator('[aria-current=step]', { hasText: 'Creating pages' }).waitFor();
  await assertAccessible(page, 'a running job');
  await world.db.query(sql`update jobs set progress = 55 where job_id = ${job.job_id}`);
  await page.getByText('55 %').waitFor();
  await world.db.query(sql`
    update uploads set status = 'failed', error = 'unreadable: it is no PDF', finished_at = now() where upload_id = ${made.body.upload_id}`);
  await world.db.query(sql`
    update jobs set status = 'failed', finished_at = now(), worker_id = null where job_id = ${job.job_id}`);
  await page.getByRole('heading', { level: 1, name: 'Upload failed' }).waitFor();
  await page.getByText('It is no PDF').first().waitFor();
  await assertAccessible(page, 'failed');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Upload failed' }).waitFor();
  const { body: jobs } = await owner.get(`${api}/jobs?upload_id=${made.body.upload_id}`);
  assert.equal(jobs.length, 2);
  assert.deepEqual(complaints, []);
});
