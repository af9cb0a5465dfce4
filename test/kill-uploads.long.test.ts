import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { openRoles } from './process.ts';
import { randomNumbers } from './random-numbers.ts';
import { type Announced, announce, patch, type SentFile, sha256Of } from './resumable.ts';
import { until } from './until.ts';
import { type Answer, type Owner, waitForUpload } from './world.ts';
import { zipOf } from './zip.ts';

/**
 * UPLOAD_KILLS: number of kills of the service or the worker. KILL_SEED: repeats the random choices of an earlier run.
 */
const KILLS = Number(process.env.UPLOAD_KILLS || 4);
const SEED = Number(process.env.KILL_SEED || randomInt(2 ** 31));
const CLIENTS = 2;
const MIB = 2 ** 20;
/** Sections of a document that takes several transactions; its last section differs in each upload. */
const SECTIONS = 60;
const SECTION = `${'All work and no play makes Jack a dull boy. '.repeat(100)}\n\n`;
/** Maximum time between the readiness of a process and its kill. */
const MOMENT_MS = 700;

const random = randomNumbers(SEED);
const { dataDir, world, start } = await openRoles();
const { query } = world.db;
const running = { web: await start('web'), worker: await start('worker') };

/** Retries until the answer is not an error of a killed process: no connection, or 5xx. */
async function retryUntilAvailable(what: string, ask: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await until(
    `an answer to ${what}`,
    async () => {
      answer = await ask().catch(() => undefined);
      return answer?.status;
    },
    (status) => status !== undefined && status < 500,
  );
  assert.ok(answer);
  return answer;
}

/**
 * Sends a file in pieces of any length from the offset that the service reports. Asserts that no acknowledged byte is
 * lost.
 */
async function send(owner: Owner, { path, content }: SentFile, size: () => number): Promise<void> {
  let acknowledged = 0;
  const sendNext = async () => {
    const head = await retryUntilAvailable(`HEAD ${path}`, () => owner.send('HEAD', path));
    assert.equal(head.status, 200);
    const at = Number(head.headers.get('upload-offset'));
    assert.ok(at >= acknowledged, `${acknowledged} bytes were acknowledged, and ${at} are there`);
    if (at === content.length) return at;
    const answer = await patch(owner, path, at, content.subarray(at, at + size())).catch(() => undefined);
    if (answer?.status === 204) acknowledged = Number(answer.headers.get('upload-offset'));
    else if (answer) assert.ok(answer.status === 409 || answer.status === 503, JSON.stringify(answer.body));
    return at;
  };
  await until(`all ${content.length} bytes of ${path} are there`, sendNext, (at) => at === content.length);
}

async function uploadOnce(owner: Owner, numbers: () => number): Promise<Announced> {
  // Binary, so that it does not become a page: only its bytes matter.
  const large = Buffer.alloc(1 + Math.floor(numbers() * 12 * MIB), `\0${numbers()}`);
  const contents: Record<string, Buffer> = { 'large.bin': large };
  for (const name of ['a', 'b', 'c']) contents[`${name}.md`] = Buffer.from(`# ${name}\n\n${numbers()}\n`);
  if (numbers() < 0.3) {
    const sections = Array.from({ length: SECTIONS }, (_, i) => `# Section ${i}\n\n${SECTION}`);
    contents['long.md'] = Buffer.from(`${sections.join('')}${numbers()}\n`);
  }
  const upload = await until('an upload is announced', () =>
    announce(owner, owner.wiki_id, contents).catch(() => undefined),
  );
  for (const file of upload.files) await send(owner, file, () => Math.ceil(numbers() * 3 * MIB));
  const { path } = upload;
  const completed = await retryUntilAvailable(`${path}/complete`, () => owner.post(`${path}/complete`));
  // If the first answer was lost, the upload is already queued.
  assert.ok(completed.status === 200 || completed.body.error === 'upload_state', JSON.stringify(completed.body));
  return upload;
}

/** Ends leases and resets failures, to save the time of a lease and so that the kills do not count against a job. */
async function resetLeases(): Promise<void> {
  await query(sql`with gone as (delete from workers), counted as (update upload_files set attempts = 0)
    update jobs set failures = 0 where status = 'running'`);
}

test('uploads and their jobs continue after kills of the service or the worker, and lose and duplicate nothing', async (t) => {
  const uploads: { owner: Owner; upload: Announced }[] = [];
  const failures: unknown[] = [];
  let stopping = false;
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => world.owner()));
  const sending = clients.map(async (owner, i) => {
    const numbers = randomNumbers(SEED + i + 1);
    while (!stopping) uploads.push({ owner, upload: await uploadOnce(owner, numbers) });
  });
  for (const client of sending) client.catch((error) => failures.push(error));

  for (let kill = 0; kill < KILLS && failures.length === 0; kill += 1) {
    const role = random() < 0.5 ? 'web' : 'worker';
    await new Promise((resolve) => setTimeout(resolve, random() * MOMENT_MS));
    running[role].kill('SIGKILL');
    await running[role].ended;
    if (role === 'worker') await resetLeases();
    running[role] = await start(role);
  }
  stopping = true;
  await Promise.all(sending);
  await until(
    'every upload that was completed has ended',
    () =>
      query<{ upload_id: string; progress: number }>(sql`
      select upload_id, j.progress from uploads u left join jobs j using (upload_id) where u.status = 'queued'`),
    (open) => open.length === 0,
  );

  for (const { owner, upload } of uploads) {
    const { body } = await owner.get(upload.path);
    assert.deepEqual([body.status, body.source_count], ['completed', upload.files.length - 1], JSON.stringify(body));
    const files = await query<{ filename: string; status: string; sha256: string }>(sql`
      select filename, status, sha256 from upload_files
      where upload_id = ${upload.upload_id} and kind = 'file' order by file_no`);
    // No reader accepts the type of the large file: its bytes arrived, and are deleted when the upload has ended.
    assert.deepEqual(
      files.map(({ filename, status, sha256 }) => [filename, status, sha256]),
      upload.files.map(({ filename, content }) =>
        filename === 'large.bin' ? [filename, 'failed', ''] : [filename, 'done', sha256Of(content)],
      ),
    );
    for (const { content } of upload.files) {
      const sha256 = sha256Of(content);
      const stored = await readFile(join(dataDir, 'blobs', sha256.slice(0, 2), sha256));
      assert.equal(sha256Of(stored), sha256, 'the stored bytes must be those that were sent');
    }
    const [counted] = await query(sql`
      select (select count(*)::int from jobs where upload_id = ${upload.upload_id}) as jobs,
        (select count(*)::int from sources where upload_id = ${upload.upload_id}) as sources,
        (select count(*)::int from upload_parts where upload_id = ${upload.upload_id}) as parts,
        array(select type from audit_events where target_id = ${upload.upload_id} order by event_id) as events`);
    const events = ['upload.created', 'upload.queued', 'upload.completed'];
    assert.deepEqual(counted, { jobs: 1, sources: upload.files.length - 1, parts: 0, events });
  }
  for (const owner of clients) {
    const sent = uploads
      .filter((entry) => entry.owner === owner)
      .map(({ upload }) => upload.files.map((file) => file.filename));
    const long = sent.filter((files) => files.includes('long.md')).length;
    const [counted] = await query(sql`
      select (select count(*)::int from pages where wiki_id = ${owner.wiki_id}) as pages,
        (select count(*)::int from revisions where wiki_id = ${owner.wiki_id}) as revisions`);
    // Each upload updates the same pages: the pages of its files and of the last section get a revision, the others
    // keep their first.
    const pages = (sent.length > 0 ? 3 : 0) + (long > 0 ? 1 + SECTIONS : 0);
    const revisions = 3 * sent.length + long + (long > 0 ? SECTIONS : 0);
    assert.deepEqual(counted, { pages, revisions });
  }
  const attempts = await query<{ n: number }>(sql`select coalesce(sum(attempt), 0)::int as n from jobs`);
  t.diagnostic(
    `seed ${SEED}: ${KILLS} kills; ${uploads.length} uploads, 0 lost, 0 duplicated; ${attempts[0]?.n} attempts of jobs`,
  );
  assert.ok(uploads.length > 0);
});

test('a long document whose worker is killed between its pages has each page once', async () => {
  const owner = await world.owner();
  const sections = Array.from({ length: 400 }, (_, i) => `# Section ${i}\n\n${SECTION.slice(0, 700)} ${i}\n\n`);
  const upload = await announce(owner, owner.wiki_id, { 'long.md': Buffer.from(sections.join('')) });
  for (const file of upload.files) await send(owner, file, () => MIB);
  await owner.post(`${upload.path}/complete`);
  const counted = async () => {
    const [row] = await query<{ done: number; pages: number; revisions: number; attempt: number }>(sql`
      select (select count(*)::int from upload_files where upload_id = ${upload.upload_id} and status = 'done') as done,
        (select count(*)::int from pages where wiki_id = ${owner.wiki_id}) as pages,
        (select count(*)::int from revisions where wiki_id = ${owner.wiki_id}) as revisions,
        (select max(attempt) from jobs where upload_id = ${upload.upload_id}) as attempt`);
    assert.ok(row);
    return row;
  };
  await until('the first pages are written', counted, ({ done }) => done > 0);
  running.worker.kill('SIGKILL');
  await running.worker.ended;
  const { done, pages } = await counted();
  assert.ok(done > 0 && done < 401 && pages === done, `${done} of 401 were written`);
  await resetLeases();
  running.worker = await start('worker');
  await waitForUpload(owner, owner.wiki_id, upload.upload_id);
  assert.deepEqual(await counted(), { done: 401, pages: 401, revisions: 401, attempt: 2 });
  assert.equal((await owner.get(upload.path)).body.summary, '1 file: 1 new source, 401 new pages.');
});

test('documents link to each other even if their worker was killed between them', async () => {
  const owner = await world.owner();
  const count = 200;
  const files = (version: string): Record<string, Buffer> => {
    const page = (i: number) =>
      `<title>${i % 2 === 0 ? 'Document' : version} number ${i}</title>${[1, 5, 150]
        .map(
          (n) => `<p>See ${['New', 'Document', 'Old'].map((kind) => `${kind} number ${(i + n) % count}`).join(', ')}.`,
        )
        .join('')}<p>${version}`;
    return { 'all.zip': zipOf(Array.from({ length: count }, (_, i) => [`${i}.html`, page(i)] as const)) };
  };
  const upload = async (
    wiki_id: string,
    contents: Record<string, Buffer>,
    whileItRuns: (upload_id: string) => unknown,
  ) => {
    const { path, files: sent, upload_id } = await announce(owner, wiki_id, contents);
    for (const file of sent) await send(owner, file, () => MIB);
    await owner.post(`${path}/complete`);
    await whileItRuns(upload_id);
    const { body: ended } = await waitForUpload(owner, wiki_id, upload_id);
    assert.equal(ended.status, 'completed', JSON.stringify(ended));
  };
  const texts = (wiki_id: string) =>
    query<{ path: string; revision: number; markdown: string }>(sql`
      select p.path, r.revision, r.markdown from pages p
      join revisions r on r.wiki_id = p.wiki_id and r.page_id = p.page_id
      where p.wiki_id = ${wiki_id} order by p.path, r.revision`);
  const { body: other } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Left alone' });
  for (const wiki_id of [owner.wiki_id, other.wiki_id]) await upload(wiki_id, files('Old'), () => undefined);
  await upload(other.wiki_id, files('New'), () => undefined);
  await upload(owner.wiki_id, files('New'), async (upload_id) => {
    await until(
      'the first pages are written',
      () =>
        query(sql`
        select from upload_files where upload_id = ${upload_id} and kind = 'file' and status = 'done'`),
      (done) => done.length > 0,
    );
    running.worker.kill('SIGKILL');
    await running.worker.ended;
    const [row] = await query<{ pending: number }>(sql`
      select count(*)::int as pending from upload_files where upload_id = ${upload_id} and status = 'pending'`);
    assert.ok((row?.pending ?? 0) > 0, 'the worker must be killed before it is done');
    await resetLeases();
    running.worker = await start('worker');
  });
  const made = await texts(owner.wiki_id);
  assert.equal(made.length, 2 * count);
  assert.match(
    made.find(({ path, revision }) => path === '0' && revision === 2)?.markdown ?? '',
    /\[New number 1\]\(1\)/,
  );
  assert.deepEqual(made, await texts(other.wiki_id));
});
