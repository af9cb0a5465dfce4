import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { skipUnless } from './needs.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from './process.ts';
import { until } from './until.ts';
import { makeDatabase, type Owner, waitForUpload } from './world.ts';

const isLinux = process.platform === 'linux';
const NICE = 3;
const FILES = 150;
const DATABASE_URL = await makeDatabase();
const metricsPort = await freePort();
const env = {
  DATABASE_URL,
  DATA_DIR: join(await makeFolder(), 'data'),
  PORT: String(await freePort()),
  METRICS_PORT: String(metricsPort),
  WORKER_IDLE_SECONDS: '1',
  WORKER_NICE: String(NICE),
};
const service = spawnService(env);
await service.ready;
const world = worldOfProcess(`http://127.0.0.1:${env.PORT}`, DATABASE_URL);
cleanUp(() => world.db.close());
const owner = await world.owner();

const workersOf = (pid: number) => childrenOf(pid, '--worker-process');

function childrenOf(pid: number, part: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => isChildOf(Number(name), pid, part))
    .map(Number);
}

/** Returns whether a process is a child of `parent` and has `part` in its command line. */
function isChildOf(pid: number, parent: number, part: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const isChild = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
    return isChild && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(part);
  } catch {
    // It has ended since it was listed.
    return false;
  }
}

/** Asserts the priority of each thread: on Linux, each thread has its own. */
function assertNice(pid: number, nice: number): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    assert.equal(getPriority(Number(thread)), Math.min(getPriority() + nice, 19), `of thread ${thread}`);
  }
}

const isThere = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function sendFiles(to: Owner, files: number): Promise<string> {
  const form = new FormData();
  for (let i = 0; i < files; i += 1) {
    form.append('files', new Blob([`# Page ${i}\n\n${'*Words* of it. '.repeat(30)}\n`]), `${i}.md`);
  }
  const made = await to.send('POST', `/v1/wikis/${to.wiki_id}/uploads`, { body: form });
  assert.equal(made.status, 201);
  return made.body.upload_id;
}

/** Uploads files and waits until a worker process works on them. */
async function startLongUpload(to: Owner): Promise<{ upload_id: string; worker: number }> {
  const upload_id = await sendFiles(to, FILES);
  const job = async () => (await to.get(`/v1/wikis/${to.wiki_id}/jobs?upload_id=${upload_id}`)).body[0];
  await until('the upload is in work', job, ({ status }) => status === 'running');
  const [worker = 0] = workersOf(service.pid);
  return { upload_id, worker };
}

const only = { skip: skipUnless(isLinux, 'Run these tests on Linux: they find processes in /proc.') };

test('requests and background jobs without files start no worker process', only, async () => {
  const { wiki_id, workspace_id } = owner;
  const made = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Quiet', markdown: 'Some heather.\n' });
  assert.equal(made.status, 201);
  const invited = await owner.post(`/v1/workspaces/${workspace_id}/members/invite`, {
    email: 'guest@example.com',
    role: 'viewer',
  });
  assert.equal(invited.status, 200, JSON.stringify(invited.body));
  await until(
    'the invitation was sent',
    () => world.db.query(sql`select name from background_jobs where name = 'send-invitation-mail'`),
    (jobs) => jobs.length === 0,
  );
  assert.match(service.stdout(), /guest@example\.com/, 'mail goes to the log');
  assert.deepEqual(workersOf(service.pid), []);
});

test('a process of lower priority runs uploads, and ends when it is idle', only, async () => {
  const { upload_id, worker } = await startLongUpload(owner);
  assertNice(worker, NICE);
  const renderers = await until(
    'files are compiled',
    () => childrenOf(worker, 'rendering.mjs'),
    (pids) => pids.length > 0,
  );
  await until(
    'what compiles them has a lower priority than what renders pages, and that than requests',
    () => getPriority(renderers[0]),
    (nice) => nice === Math.min(getPriority() + 15, 19),
  );
  const [pages = 0] = childrenOf(service.pid, 'rendering.mjs');
  assertNice(pages, 5);
  const { body } = await waitForUpload(owner, owner.wiki_id, upload_id);
  assert.equal(body.status, 'completed');
  await until(
    'the process has ended',
    () => workersOf(service.pid),
    (pids) => pids.length === 0,
  );
  const metrics = await until(
    'the metrics of the service tell what it has done',
    async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    (text) => /^ibid_rendering_pending\{kind="upload"\} 0$/m.test(text),
  );
  assert.match(metrics, /^ibid_job_seconds_count\{name="ingest",outcome="succeeded"\} 1$/m);
  assert.match(metrics, /^ibid_rendering_texts_total\{kind="upload"\} 150$/m);
});

test('when the worker process is killed, another one takes over at once, and the service survives', only, async () => {
  const other = await world.owner();
  const { upload_id, worker } = await startLongUpload(other);
  process.kill(worker, 'SIGKILL');
  const { body } = await waitForUpload(other, other.wiki_id, upload_id);
  assert.equal(body.status, 'completed', JSON.stringify(body));
  const [job] = await world.db.query<{ attempt: number }>(sql`
    select attempt from jobs where upload_id = ${upload_id}`);
  assert.equal(job?.attempt, 2, 'The kill must come while the job runs; give it more files.');
  assert.ok(!service.isOver());
  assert.match(service.stdout(), /the worker process ended unexpectedly/);
});

test(
  'a process without CPU time keeps its job and resumes it, even if the service had no CPU time either',
  only,
  async () => {
    const other = await world.owner();
    const { upload_id, worker } = await startLongUpload(other);
    process.kill(worker, 'SIGSTOP');
    const look = async () => {
      const [row] = await world.db.query<{ attempt: number; status: string; until: number; now: number }>(sql`
      select j.attempt, j.status, extract(epoch from w.alive_until)::float8 as until, extract(epoch from now())::float8 as now
      from jobs j left join workers w using (worker_id) where j.upload_id = ${upload_id}`);
      assert.ok(row);
      return row;
    };
    const first = await look();
    assert.equal(first.status, 'running', 'It must be stopped while the job runs; give it more files.');
    // Longer than the last lease.
    await until('the service has renewed its lease', look, (seen) => seen.until > first.until + 12);
    process.kill(service.pid, 'SIGSTOP');
    await until('the lease has ended', look, (seen) => seen.until < seen.now);
    process.kill(service.pid, 'SIGCONT');
    await until('the service has renewed the lease again', look, (seen) => seen.until > seen.now);
    process.kill(worker, 'SIGCONT');
    const { body } = await waitForUpload(other, other.wiki_id, upload_id);
    assert.equal(body.status, 'completed', JSON.stringify(body));
    assert.equal((await look()).attempt, 1);
  },
);

test('the worker process ends when the service is killed', only, async () => {
  const third = await world.owner();
  const { worker } = await startLongUpload(third);
  service.kill('SIGKILL');
  await service.ended;
  await until(
    'the process has ended',
    () => isThere(worker),
    (is) => !is,
  );
});
