import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { runDoctor } from '../src/operation/cli/doctor/doctor.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { longTest } from './extent.ts';
import { freePort, makeFolder, postgresIn, type SpawnOptions, spawnService, worldOfProcess } from './process.ts';
import { signal } from './processes.ts';
import { until } from './until.ts';
import { makeDatabase } from './world.ts';

const isRoot = process.getuid?.() === 0;

/** Starts a service that must fail to start and returns its message. */
async function refusal(env: Record<string, string>, folder: string, options: SpawnOptions = {}): Promise<string> {
  const service = spawnService({ PORT: '0', ...env }, options);
  const { code } = await service.ended;
  const message = service.stderr();
  assert.equal(code, 1, `It must exit with 1. It printed: ${service.stdout()}${message}`);
  assert.match(message, /^Ibid cannot start: .+\.\n$/, 'It must say what is wrong in one line, and nothing else.');
  assert.doesNotMatch(service.stdout(), /"level":[56]0/, 'The message must not be hidden among log lines.');
  assert.deepEqual(await postgresIn(folder), [], 'No PostgreSQL may be left behind.');
  return message;
}

test('one message names all invalid options, without the password in them', async () => {
  const folder = await makeFolder();
  const message = await refusal(
    {
      DATA_DIR: join(folder, 'data'),
      PORT: '80800',
      ROLE: 'king',
      MAX_FILE_SIZE: 'huge',
      DATABASE_URL: 'mysql://me:secret@localhost/ibid',
      OIDC_ISSUER: 'https://id.example.org',
    },
    folder,
  );
  for (const name of ['PORT', 'ROLE', 'MAX_FILE_SIZE', 'DATABASE_URL', 'OIDC_AUDIENCE', 'OIDC_CLIENT_ID']) {
    assert.ok(message.includes(name), `${name} must be named in: ${message}`);
  }
  assert.ok(!message.includes('secret'), message);

  const IBID_CONFIG = join(folder, 'ibid.conf');
  await writeFile(IBID_CONFIG, `DATA_DIR=${join(folder, 'data')}\nMAIL_FORM=me`);
  assert.equal(
    await refusal({ IBID_CONFIG }, folder),
    `Ibid cannot start: ${IBID_CONFIG}:2: MAIL_FORM is not an option: use MAIL_FROM.\n`,
  );
});

longTest('a missing or invalid file of plans is reported before anything is started', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'plans.json');
  assert.match(await refusal({ DATA_DIR: join(folder, 'data'), PLANS_FILE: file }, folder), /plans\.json/);
  await writeFile(file, '{"plans": 5}');
  assert.match(await refusal({ DATA_DIR: join(folder, 'data'), PLANS_FILE: file }, folder), /plans\.json/);
});

test('an untrustworthy issuer is reported before anything is started', async () => {
  const folder = await makeFolder();
  const env = { DATA_DIR: join(folder, 'data'), OIDC_ISSUER: 'http://id.example.org', OIDC_AUDIENCE: 'wiki' };
  assert.match(await refusal(env, folder), /OIDC_ISSUER .*beginning with https/);
});

longTest('a port in use is reported by its number', async () => {
  const folder = await makeFolder();
  const port = await listen(createServer());
  const env = { DATA_DIR: join(folder, 'data'), DATABASE_URL: await makeDatabase() };
  assert.match(
    await refusal({ DATA_DIR: env.DATA_DIR, PORT: String(port) }, folder),
    new RegExp(`Port ${port} .* in use: .*set PORT`),
  );
  assert.match(await refusal({ ...env, METRICS_PORT: String(port) }, folder), new RegExp(`METRICS_PORT ${port} `));
  assert.match(await refusal({ ...env, HOST: '192.0.2.1' }, folder), /HOST 192\.0\.2\.1 .*set HOST/);
});

longTest('a DATA_DIR in use by another process of the service is left unchanged', async () => {
  const folder = await makeFolder();
  const env = { PORT: '0', DATA_DIR: join(folder, 'data') };
  const first = spawnService(env);
  await first.ready;
  const second = spawnService(env);
  assert.equal((await second.ended).code, 1);
  assert.match(
    second.stderr(),
    new RegExp(`^Ibid cannot start: DATA_DIR .*in use by another Ibid \\(process ${first.pid}\\).*\\n$`),
  );
  const address = /serves (\S+)/.exec(first.stdout())?.[1];
  assert.equal((await fetch(`${address}/readyz`)).status, 200, 'The first service must continue undisturbed.');
});

longTest('a DATA_DIR that is a file or not writable is reported, with its own or an external database', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'file');
  await writeFile(file, '');
  const closed = join(folder, 'closed');
  await mkdir(closed, { mode: 0o755 });
  if (!isRoot) await chmod(closed, 0o555);
  const uid = isRoot ? { uid: 65_534 } : {};
  for (const database of [undefined, await makeDatabase()].map((url) => (url ? { DATABASE_URL: url } : undefined))) {
    // As root: the run's database refuses other users, but DATA_DIR is checked before the connection.
    assert.match(await refusal({ DATA_DIR: file, ...database }, folder), new RegExp(`DATA_DIR ${file} .*set DATA_DIR`));
    const message = await refusal({ DATA_DIR: join(closed, 'data'), ...database }, folder, uid);
    assert.match(message, new RegExp(`DATA_DIR ${closed}/data .*set DATA_DIR`));
  }
});

test('a database that is unreachable, missing or refuses the user is reported as such', async () => {
  const folder = await makeFolder();
  const env = { DATA_DIR: join(folder, 'data') };
  const nowhere = `postgres://me:secret@127.0.0.1:${await freePort()}/ibid`;
  const unreachable = await refusal({ ...env, DATABASE_URL: nowhere }, folder);
  assert.match(unreachable, /does not answer \(ECONNREFUSED\): start it, or correct DATABASE_URL/);
  assert.ok(!unreachable.includes('secret'), unreachable);

  const missing = new URL(await makeDatabase());
  missing.pathname = '/no_such_database';
  const noDatabase = await refusal({ ...env, DATABASE_URL: missing.href }, folder);
  assert.match(noDatabase, /has no database "no_such_database": create it, or correct DATABASE_URL/);

  const port = await refusing('28P01', 'password authentication failed for user "me"');
  const refused = await refusal({ ...env, DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/ibid` }, folder);
  assert.match(refused, /refuses the user or the password .*: correct DATABASE_URL/);
  assert.ok(!refused.includes('secret'), refused);
});

test('a database migrated by a newer release is left unchanged', async () => {
  const folder = await makeFolder();
  const env = { DATA_DIR: join(folder, 'data'), DATABASE_URL: await makeDatabase() };
  const service = spawnService({ PORT: '0', ...env });
  await service.ready;
  service.kill('SIGTERM');
  await service.ended;
  using world = worldOfProcess('', env.DATABASE_URL);
  await world.db.query(sql`insert into migrations (name) values ('999_tomorrow.sql')`);
  assert.match(await refusal(env, folder), /newer Ibid \(it has 999_tomorrow\.sql\): start that version/);
});

test('a stop leaves no process and requeues the running job, and the next start finishes it', async (t) => {
  const folder = await makeFolder();
  const dataDir = join(folder, 'data');
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const start = async () => {
    const began = performance.now();
    const service = spawnService({ PORT: String(port), DATA_DIR: dataDir });
    await service.ready;
    assert.equal((await fetch(`${address}/readyz`)).status, 200);
    return { service, took: Math.round(performance.now() - began) };
  };
  const first = await start();
  const world = worldOfProcess(address, { dataDir });
  const owner = await world.owner();
  const form = new FormData();
  // Work for some seconds, so that the job still runs when the stop arrives.
  const files = 300;
  for (let i = 0; i < files; i += 1)
    form.append('files', new Blob([`# Page ${i}\n\n${'Words. '.repeat(1_000)}\n`]), `${i}.md`);
  const made = await owner.send('POST', `/v1/wikis/${owner.wiki_id}/uploads`, { body: form });
  assert.equal(made.status, 201);
  const jobs = `/v1/wikis/${owner.wiki_id}/jobs`;
  const job = async () => (await owner.get(jobs)).body[0];
  await until('the job has begun', job, ({ progress }) => progress > 0);
  await world.db.close();
  // A connection that never sends a request must not delay the stop beyond its timeout.
  const silent = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(silent, 'connect');
  first.service.kill('SIGTERM');
  // npm forwards a signal of the terminal, so it arrives twice.
  first.service.kill('SIGTERM');
  assert.deepEqual(await first.service.ended, { code: 0, signal: null }, first.service.stdout());
  assert.deepEqual(await postgresIn(folder), []);

  const second = await start();
  await until('the upload has ended', job, ({ finished_at }) => finished_at !== undefined);
  const { body } = await owner.get(jobs);
  assert.equal(body[0].status, 'completed', JSON.stringify(body));
  assert.equal(body[0].attempt, 2, 'The stop must come while the job runs; give it more files.');
  assert.equal(body[0].summary, `${files} files: ${files} new sources, ${files} new pages.`);
  second.service.kill('SIGINT');
  assert.deepEqual(await second.service.ended, { code: 0, signal: null });
  assert.deepEqual(await postgresIn(folder), []);

  // The doctor also checks the database of a stopped service.
  const lines: string[] = [];
  await runDoctor({ DATA_DIR: dataDir, PORT: String(port) }, [], (line) => lines.push(line));
  for (const found of [
    /^ok +indexes: /m,
    /^ok +sessions: /m,
    new RegExp(`^ok +files: files in the store: ${files};`, 'm'),
    /^warning +service: .*does not/m,
  ]) {
    assert.match(lines.join('\n'), found);
  }
  assert.deepEqual(await postgresIn(folder), []);
  t.diagnostic(`ready after ${first.took} ms the first time, after ${second.took} ms with data`);
});

longTest('a stop during a start leaves no process running', async () => {
  const folder = await makeFolder();
  const service = spawnService({ PORT: '0', DATA_DIR: join(folder, 'data') });
  await until(
    'PostgreSQL runs',
    () => postgresIn(folder),
    (pids) => pids.length > 0,
  );
  service.kill('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
  assert.deepEqual(await postgresIn(folder), []);
});

/** Starts a server that refuses every connection as PostgreSQL does, and returns its port. */
async function refusing(code: string, message: string): Promise<number> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(fields.length + 4, 1);
  return listen(createServer((socket) => socket.once('data', () => socket.end(Buffer.concat([head, fields])))));
}

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  cleanUp(() => void server.close());
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  return address.port;
}

test('a signal to npm start stops the service: its port is free and no process is left', async () => {
  const HOME = await makeFolder();
  const DATABASE_URL = await makeDatabase();
  const port = await freePort();
  const npm = spawn('npm', ['start'], {
    cwd: PACKAGE,
    env: {
      PATH: process.env.PATH,
      HOME,
      DATA_DIR: join(HOME, 'data'),
      DATABASE_URL,
      PORT: String(port),
      NODE_ENV: 'production',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own, so that processes that outlive npm can be killed.
    detached: true,
  });
  cleanUp(() => npm.pid && signal(-npm.pid, 'SIGKILL'));
  const ended = once(npm, 'exit');
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  await until(
    'npm start serves',
    () => output,
    (text) => /^Ibid serves/m.test(text),
  );
  npm.kill('SIGTERM');
  await ended;
  await until(
    'no process of the service',
    () => inGroup(npm.pid),
    (pids) => pids.length === 0,
  );
  await listen(createServer(), port);
});

async function inGroup(group: number | undefined): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,pgid=,stat=']);
  const rows = [...stdout.matchAll(/^ *(\d+) +(\d+) +[^Z]/gm)];
  return rows.filter(([, , of]) => Number(of) === group).map(([, pid]) => Number(pid));
}

test('an outdated Node.js gets one line with the version to install, and ibid runs with the Node.js among the packages', async () => {
  const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.12.0'}})`;
  const { scripts } = JSON.parse(await readFile(new URL('package.json', PACKAGE), 'utf8'));
  const run = (command: string) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      const [, ...args] = command.split(' ');
      const options = { cwd: PACKAGE };
      execFile(process.execPath, ['--import', older, ...args], options, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
  for (const command of [scripts.prestart, scripts.pretest]) {
    const { code, stderr } = await run(command);
    assert.equal(code, 1, command);
    assert.match(stderr, /^Ibid cannot start: Node\.js 22\.12\.0 is too old; install Node\.js 24 .+\.\n$/, command);
  }
  const { code, stdout, stderr } = await run('node bin/ibid config --explain');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /DATA_DIR/);
});
