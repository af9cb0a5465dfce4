import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { cleanUp as afterAll } from '../../test/clean-up.ts';
import { longTest } from '../../test/extent.ts';
import { skipUnless } from '../../test/needs.ts';
import { until } from '../../test/until.ts';
import { linkLibraries } from './binaries.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { runningPostgres } from './running.ts';
import { StartError } from './start-error.ts';

const isRoot = process.getuid?.() === 0;
const limit = { timeout: 600_000 };

const afterwards = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs steps in reverse order, because a folder can only be removed after its server has stopped. */
function cleanUp(t: TestContext, step: () => unknown): void {
  const steps = afterwards.get(t) ?? [];
  if (steps.push(step) > 1) return;
  afterwards.set(t, steps);
  t.after(async () => {
    for (const latest of steps.reverse()) await latest();
  });
}

/** A temporary folder that PostgreSQL's own user can enter. */
function makeFolder(t: TestContext, mode = 0o711): string {
  const folder = mkdtempSync(join(tmpdir(), 'ibid-postgres-'));
  chmodSync(folder, mode);
  cleanUp(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}

/** The folder of a stopped cluster. initdb takes more than a second of CPU time, copying its files almost none. */
const STOPPED = mkdtempSync(join(tmpdir(), 'ibid-postgres-'));
chmodSync(STOPPED, 0o711);
afterAll(() => rmSync(STOPPED, { recursive: true, force: true }));
let stopped: Promise<string> | undefined;

async function makeStopped(): Promise<string> {
  const dataDir = join(STOPPED, 'data');
  await (await startPostgres({ dataDir, log: () => undefined })).stop();
  return dataDir;
}

/** A DATA_DIR with a cluster, for tests that are not about the first start. */
async function dataDirOf(t: TestContext): Promise<string> {
  stopped ??= makeStopped();
  const dataDir = join(makeFolder(t), 'data');
  // `-a` keeps the owner, which is PostgreSQL's own user.
  execFileSync('cp', ['-a', await stopped, dataDir]);
  return dataDir;
}

async function start(t: TestContext, dataDir: string, minFreeBytes?: number): Promise<Postgres> {
  const postgres = await startPostgres({ dataDir, minFreeBytes, log: () => undefined });
  cleanUp(t, () => postgres.stop());
  return postgres;
}

async function query(postgres: Pick<Postgres, 'connection'>, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(postgres.connection);
  client.on('error', () => undefined); // A killed server also fails the pending query.
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** A process that has ended counts as dead before its new parent has reaped it. */
const isAlive = (pid: number): boolean => {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
};

/** Starts another Ibid, as far as the database is concerned. It prints a line when it is ready, or its error. */
function spawnIbid(t: TestContext, dataDir: string): ChildProcess {
  const script = `
    import { startPostgres } from ${JSON.stringify(new URL('packages/postgres-server/postgres.ts', PACKAGE).href)};
    process.on('SIGINT', () => undefined);
    try {
      const postgres = await startPostgres({ dataDir: process.argv[1], log() {} });
      console.log(JSON.stringify({ connection: postgres.connection, pid: postgres.pid }));
      process.stdin.once('data', async () => { await postgres.stop(); process.exit(); });
      setInterval(() => undefined, 1000);
    } catch (error) {
      console.log(JSON.stringify({ name: error.name, message: error.message }));
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanUp(t, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.stdin?.end('stop\n');
    await once(child, 'exit');
  });
  return child;
}

interface Word {
  connection: Postgres['connection'];
  pid: number;
  name?: string;
  message?: string;
}

async function firstWord({ stdout }: ChildProcess): Promise<Word> {
  assert(stdout);
  const [line] = await once(createInterface(stdout), 'line');
  return JSON.parse(line);
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

longTest('committed rows survive a stop and a start', limit, async (t) => {
  const dataDir = join(makeFolder(t), 'data');
  const begin = performance.now();
  const first = await start(t, dataDir);
  t.diagnostic(`first start: ${Math.round(performance.now() - begin)} ms`);
  await query(first, 'create table kept as select 42 as answer');
  const { pid } = first;
  await first.stop();
  assert.equal(first.pid, undefined);
  assert(pid && !isAlive(pid), 'stop() must wait until the server has ended.');

  const again = performance.now();
  const second = await start(t, dataDir);
  t.diagnostic(`next start: ${Math.round(performance.now() - again)} ms`);
  assert.deepEqual(await query(second, 'select answer from kept'), [{ answer: 42 }]);
});

test('the server is durable, closed to other users, and handles letters beyond ASCII', limit, async (t) => {
  const postgres = await start(t, await dataDirOf(t));
  const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'listen_addresses'];
  const columns = names.map((name) => `current_setting('${name}') as ${name}`);
  assert.deepEqual(await query(postgres, `select ${columns}`), [
    { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', data_checksums: 'on', listen_addresses: '' },
  ]);
  assert.deepEqual(
    await query(postgres, 'select rolname, rolsuper from pg_roles where rolname = current_user'),
    [{ rolname: 'ibid', rolsuper: false }],
    'Ibid must not work as a superuser, who could run programs from SQL.',
  );
  assert.equal(statSync(postgres.connection.host).mode & 0o077, 0, 'Only the owner may reach the socket.');
  assert.deepEqual(await query(postgres, `select lower('ÉЖ') as lower, 'a' < 'B' as by_language`), [
    { lower: 'éж', by_language: false },
  ]);
});

/** Returns '' if the process has ended since it was listed, as autovacuum workers do. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch (error) {
    assert.ok(['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? ''), String(error));
    return '';
  }
}

const onLinux = {
  ...limit,
  skip: skipUnless(process.platform === 'linux', 'Only Linux shows the environment of a process.'),
};

test("the server and its sessions inherit no secrets from the service's environment", onLinux, async (t) => {
  const secrets = ['SMTP_URL', 'OIDC_CLIENT_SECRET', 'STORAGE_URL', 'DATABASE_URL', 'UNKNOWN_TO_IBID'];
  for (const name of secrets) {
    process.env[name] = `secret of ${name}`;
    cleanUp(t, () => delete process.env[name]);
  }
  const postgres = await start(t, await dataDirOf(t));
  const children = readFileSync(`/proc/${postgres.pid}/task/${postgres.pid}/children`, 'utf8').trim().split(' ');
  assert.ok(children.length > 1, 'The server has processes of its own.');
  const names = new Set<string>();
  for (const pid of [String(postgres.pid), ...children]) {
    const environment = environmentOf(pid);
    assert.doesNotMatch(environment, /secret of/);
    for (const line of environment.split('\0')) names.add(line.slice(0, line.indexOf('=')));
  }
  assert.ok(names.has('PATH'), 'An environment was read.');
  const allowed = /^(PATH|TMPDIR|LD_LIBRARY_PATH|LC_\w+|PG\w+|)$/;
  assert.deepEqual(
    [...names].filter((name) => !allowed.test(name)),
    [],
    'Nothing else is passed on.',
  );
});

test('statements that fail on purpose leave nothing in the log of PostgreSQL', limit, async (t) => {
  const dataDir = await dataDirOf(t);
  const postgres = await start(t, dataDir);
  await assert.rejects(query(postgres, `do $$ begin raise exception 'refused on purpose'; end $$`), /on purpose/);
  assert.doesNotMatch(readFileSync(join(dataDir, 'postgres.log'), 'utf8'), /on purpose/);
});

test('a killed server restarts with every committed row, even while a session computes', limit, async (t) => {
  const postgres = await start(t, await dataDirOf(t));
  await query(postgres, 'create table kept (n int)');
  for (let round = 1; round <= 3; round++) {
    await query(postgres, `insert into kept values (${round})`);
    const series = 'generate_series(1, 100000)';
    const endless = query(postgres, `select count(*) from ${series} a, ${series} b`);
    const failed = assert.rejects(endless);
    await until(
      'the session computes',
      async () => (await query(postgres, `select 1 from pg_stat_activity where query ~ '^select count'`))[0],
    );
    const { pid } = postgres;
    assert(pid);
    const begin = performance.now();
    process.kill(pid, 'SIGKILL');
    const rows = await until('the server is back', () =>
      query(postgres, 'select count(*)::int as n from kept').catch(() => undefined),
    );
    t.diagnostic(`back after ${Math.round(performance.now() - begin)} ms`);
    assert.deepEqual(rows, [{ n: round }]);
    assert.notEqual(postgres.pid, pid);
    await failed;
  }
  await postgres.stop();
  assert.equal(postgres.pid, undefined, 'A stopped server must not be started again.');
});

longTest('stop() also ends a server that is restarting', limit, async (t) => {
  const dataDir = await dataDirOf(t);
  const postgres = await start(t, dataDir);
  const { pid: first } = postgres;
  assert(first);
  process.kill(first, 'SIGKILL');
  await until(
    'the server is gone or its successor starts',
    () => postgres.pid,
    (pid) => pid !== first,
  );
  await postgres.stop();
  assert.equal(postgres.pid, undefined);
  await assert.rejects(query(postgres, 'select 1'), 'A server still answers after stop().');
  assert.deepEqual(await query(await start(t, dataDir), 'select 1 as one'), [{ one: 1 }]);
});

longTest('the next start replaces the server of a killed Ibid and keeps all rows', limit, async (t) => {
  const dataDir = await dataDirOf(t);
  const ibid = spawnIbid(t, dataDir);
  const orphan = await firstWord(ibid);
  await query(orphan, 'create table kept as select 42 as answer');
  assert.deepEqual(runningPostgres(dataDir), orphan.connection);
  await killed(ibid);
  assert(isAlive(orphan.pid), 'This test is about a server that outlives its Ibid.');

  const postgres = await start(t, dataDir);
  assert.deepEqual(await query(postgres, 'select answer from kept'), [{ answer: 42 }]);
  assert(!isAlive(orphan.pid), 'Two servers must not live on one cluster.');
  await postgres.stop();
  assert.equal(runningPostgres(dataDir), undefined);
});

test('a second Ibid on a DATA_DIR in use is refused, and its error names the process', limit, async (t) => {
  const dataDir = await dataDirOf(t);
  const ibid = spawnIbid(t, dataDir);
  const word = await firstWord(ibid);
  await assert.rejects(start(t, dataDir), (error) => {
    assert(error instanceof StartError);
    assert(error.message.includes(dataDir), error.message);
    assert(error.message.includes(`process ${ibid.pid}`), error.message);
    return true;
  });
  assert.deepEqual(await query(word, 'select 1 as one'), [{ one: 1 }], 'The refused start disturbed the running one.');

  // This holds while the running Ibid's server is down, and within the same process.
  process.kill(word.pid, 'SIGKILL');
  await assert.rejects(start(t, dataDir), /in use by another Ibid/);
  ibid.stdin?.write('stop\n');
  await once(ibid, 'exit');
  await start(t, dataDir);
  await assert.rejects(start(t, dataDir), /in use by another Ibid/);
});

longTest('if several first starts run at once, exactly one succeeds', limit, async (t) => {
  const dataDir = join(makeFolder(t), 'data');
  const words = await Promise.all(Array.from({ length: 4 }, () => firstWord(spawnIbid(t, dataDir))));
  const winners = words.filter((word) => word.pid !== undefined);
  const refused = words.filter((word) => word.name === 'StartError' && word.message?.includes('in use'));
  assert.equal(winners.length, 1, JSON.stringify(words));
  assert.equal(refused.length, 3, JSON.stringify(words));
});

longTest('a start after a killed first start succeeds', limit, async (t) => {
  const moments: Record<string, (dataDir: string) => boolean> = {
    'initdb works': (dataDir) =>
      readdirSync(dataDir).some((name) => existsSync(join(dataDir, name, 'base', '1', 'PG_VERSION'))),
    'the cluster has its name': (dataDir) => existsSync(join(dataDir, 'postgres', 'PG_VERSION')),
    'the server starts': (dataDir) => existsSync(join(dataDir, 'postgres', 'postmaster.pid')),
  };
  for (const [moment, reached] of Object.entries(moments)) {
    const dataDir = join(makeFolder(t), 'data');
    const ibid = spawnIbid(t, dataDir);
    await until(moment, () => existsSync(dataDir) && reached(dataDir));
    await killed(ibid);
    const postgres = await start(t, dataDir);
    await query(postgres, 'create table kept as select 42 as answer');
    const left = readdirSync(dataDir).filter((name) => name.includes('unfinished'));
    assert.deepEqual(left, [], `Killed when ${moment}: leftovers must be removed.`);
    await postgres.stop();
  }
});

test(
  'a stale process number in postmaster.pid neither prevents the start nor harms the process that has it now',
  limit,
  async (t) => {
    const dataDir = await dataDirOf(t);
    const postgres = await start(t, dataDir);
    const cluster = join(dataDir, 'postgres');
    const content = readFileSync(join(cluster, 'postmaster.pid'), 'utf8');
    await postgres.stop();
    const { uid, gid } = statSync(cluster);
    const bystander = spawn('sleep', ['600'], isRoot ? { uid, gid } : {});
    cleanUp(t, () => bystander.kill());
    writeFileSync(join(cluster, 'postmaster.pid'), content.replace(/^\d+/, String(bystander.pid)));
    writeFileSync(join(cluster, '.s.PGSQL.5432.lock'), content.replace(/^\d+/, String(bystander.pid)));

    assert.equal(runningPostgres(dataDir), undefined, 'A process that only has the number is no server.');
    await query(await start(t, dataDir), 'select 1');
    assert.equal(bystander.exitCode ?? bystander.signalCode, null, 'A foreign process was ended.');
  },
);

test('a signal to the terminal reaches only Ibid, so that requests can be finished first', limit, async (t) => {
  const ibid = spawnIbid(t, await dataDirOf(t));
  const word = await firstWord(ibid);
  assert(ibid.pid);
  process.kill(-ibid.pid, 'SIGINT'); // Ctrl-C: to every process of the terminal's foreground group.
  for (let round = 0; round < 20; round++) assert.deepEqual(await query(word, 'select 1 as one'), [{ one: 1 }]);
});

longTest('a path too long for a socket works, and its socket is removed after the stop', limit, async (t) => {
  const dataDir = join(makeFolder(t), 'a folder, "long"'.repeat(3), 'x'.repeat(100), 'data');
  for (const answer of ['made', 'found']) {
    const postgres = await start(t, dataDir);
    await query(postgres, `create table if not exists kept as select '${answer}' as answer`);
    assert.deepEqual(await query(postgres, 'select answer from kept'), [{ answer: 'made' }]);
    assert.equal(statSync(postgres.connection.host).mode & 0o077, 0, 'Only the owner may reach the socket.');
    await postgres.stop();
    assert(!existsSync(postgres.connection.host), `${postgres.connection.host} must be removed.`);
  }
});

test('an unusable DATA_DIR is refused with advice', limit, async (t) => {
  const folder = makeFolder(t);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const closed = isRoot ? '/sys/ibid' : join(folder, 'closed', 'data');
  if (!isRoot) mkdirSync(dirname(closed), { mode: 0o500 });
  const foreign = join(folder, 'foreign');
  mkdirSync(join(foreign, 'postgres'), { recursive: true });
  writeFileSync(join(foreign, 'postgres', 'precious'), '');
  for (const dataDir of [file, join(file, 'below'), closed, foreign]) {
    await assert.rejects(start(t, dataDir), (error) => {
      assert(error instanceof StartError, String(error));
      assert(error.message.includes(dataDir) && /set DATA_DIR|free/.test(error.message), error.message);
      assert(!error.message.includes('\n'), 'One line is asked for.');
      return true;
    });
  }
  assert(existsSync(join(foreign, 'postgres', 'precious')));
});

test('a cluster of a version that is not installed is refused and stays unchanged', limit, async (t) => {
  const dataDir = await dataDirOf(t);
  const postgres = await start(t, dataDir);
  await postgres.stop();
  const versionFile = join(dataDir, 'postgres', 'PG_VERSION');
  const version = readFileSync(versionFile, 'utf8');
  writeFileSync(versionFile, '99\n');
  await assert.rejects(start(t, dataDir), /created by PostgreSQL 99.*Install PostgreSQL 99/);
  writeFileSync(versionFile, version);
  await query(await start(t, dataDir), 'select 1');
});

longTest(
  'a DATA_DIR that only its owner can enter works; for root, through a link to an accessible folder',
  limit,
  async (t) => {
    const dataDir = join(makeFolder(t, 0o700), 'data');
    cleanUp(t, () => {
      const cluster = realpathSync(join(dataDir, 'postgres'));
      if (!cluster.startsWith(dataDir)) rmSync(dirname(cluster), { recursive: true });
    });
    const first = await start(t, dataDir);
    await query(first, 'create table kept as select 42 as answer');
    const cluster = realpathSync(join(dataDir, 'postgres'));
    assert.equal(statSync(cluster).mode & 0o077, 0);
    if (isRoot) assert.notEqual(statSync(cluster).uid, 0, 'PostgreSQL must not run as root.');
    await first.stop();
    const second = await start(t, dataDir);
    assert.deepEqual(await query(second, 'select answer from kept'), [{ answer: 42 }]);
  },
);

longTest('the disk counts as full below the limit, and not above', limit, async (t) => {
  const dataDir = await dataDirOf(t);
  const roomy = await start(t, dataDir, 0);
  assert.equal(roomy.diskIsFull(), false);
  await roomy.stop();
  const tight = await start(t, dataDir, Number.MAX_SAFE_INTEGER);
  assert.equal(tight.diskIsFull(), true);
});

test('the library links of the binaries are created, once or again, and a package without a list is left alone', (t) => {
  const native = join(makeFolder(t), 'native');
  mkdirSync(join(native, 'lib'), { recursive: true });
  assert.equal(linkLibraries(native), true);
  writeFileSync(join(native, 'lib', 'libx.so.1.2'), 'content');
  const link = { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' };
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify([link]));
  for (let round = 0; round < 2; round++) assert.equal(linkLibraries(native), true);
  assert.equal(readlinkSync(join(native, 'lib', 'libx.so.1')), 'libx.so.1.2');
});
