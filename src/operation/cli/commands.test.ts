import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../../../test/process.ts';
import { makeEmptyDatabase, openOwner } from '../../../test/world.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { sql } from '../../platform/db/sql.ts';
import { COMMANDS, runCommand } from './commands.ts';

const ROOT = fileURLToPath(PACKAGE);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const folder = await makeFolder();
const BACKUP_URL = `file://${folder}/backups`;

/** A call of every command, in each form, that works on the database of a service. */
const ON_A_DATABASE = [
  'key --email ada@example.com',
  'verify',
  `verify --report ${folder}/report.json`,
  'verify --public-key',
  'jobs',
  'jobs retry bgj_1',
  'backup',
  'resume',
  'migrate --plan',
  'workspace list',
  'workspace limits acme',
  'workspace pause acme',
  'workspace resume acme',
  'workspace share acme 2',
  'workspace sign-out acme',
  `user export ada@example.com ${folder}/ada.zip`,
  'user delete ada@example.com --yes',
  'plan acme',
];
/** Works only on the PostgreSQL in DATA_DIR. */
const ON_OWN_DATABASE = [...ON_A_DATABASE, 'upgrade'];
const SUBCOMMANDS = [
  'jobs retry',
  ...['list', 'limits', 'pause', 'resume', 'share', 'sign-out'].map((it) => `workspace ${it}`),
];
const CALLS = [...Object.keys(COMMANDS), ...SUBCOMMANDS, 'user export', 'user delete'];

/** Runs a command in this process. `failed` is its output to stderr. */
async function ibid(line: string, env: Record<string, string> = {}) {
  const lines: string[] = [];
  const given = { DATA_DIR: join(folder, 'none'), BACKUP_URL, ...env };
  const args = line.split(' ').filter(Boolean);
  const answer = runCommand(given, args, (text) => lines.push(text));
  const [isSound, failed] = await answer.then(
    (isSound) => [isSound, ''] as const,
    (error: Error) => [false, error.message] as const,
  );
  return { isSound, text: lines.join('\n'), failed };
}

test('every command answers --help and -h with its usage, and --version and -v with the version', async () => {
  for (const call of CALLS) {
    const [name = ''] = call.split(' ');
    for (const line of [`${call} --help`, `${call} -h`, `help ${call}`, `${call} x y --help --nonsense`]) {
      const { isSound, text, failed } = await ibid(line);
      assert.deepEqual([isSound, failed], [true, ''], line);
      assert.ok(text.startsWith('Usage:\n  ibid '), line);
      assert.match(text, new RegExp(`^  ibid ${call === name ? name : call}\\b`, 'm'), line);
    }
    for (const flag of ['--version', '-v']) {
      const { isSound, text } = await ibid(`${call} ${flag}`);
      assert.deepEqual([isSound, text], [true, `ibid ${version}`], `${call} ${flag}`);
    }
  }
  assert.equal((await ibid('--version')).text, `ibid ${version}`);
  const { text } = await ibid('');
  for (const line of ['--help', '-h', 'help']) assert.equal((await ibid(line)).text, text);
  for (const name of Object.keys(COMMANDS)) assert.match(text, new RegExp(`^  ibid ${name}\\b`, 'm'));
});

test('an unknown command or option or an excess argument is named, and nothing is done', async () => {
  for (const call of CALLS) {
    const { failed } = await ibid(`${call} --nonsense`);
    if (call === 'start') assert.match(failed, /^start takes no arguments/);
    else if (call === 'workspace') assert.match(failed, /^unknown command "workspace --nonsense"\./);
    else assert.match(failed, /^unknown option --nonsense\.\n\n {2}ibid /, call);
    const many = await ibid(`${call} a b c d`);
    assert.equal(many.isSound, false, call);
    assert.match(many.failed, /\n\n? {2}ibid /, call);
  }
  for (const [line, expected] of [
    ['verfy', /^unknown command "verfy" \(did you mean verify\?\)\.\n\nUsage:/],
    ['fly', /^unknown command "fly"\.\n\nUsage:/],
    ['workspaces', /^unknown command "workspaces" \(did you mean workspace\?\)\.\n\n/],
    ['toString', /^unknown command "toString"\./],
    ['--nonsense', /^unknown option --nonsense\.\n\nUsage:/],
    ['key --email', /^--email requires a value\./],
    ['key --email --name x', /^--email requires a value\./],
    ['migrate --plan=x', /^--plan takes no value\./],
    ['migrate --plna', /^unknown option --plna\./],
    ['verify --public-kye', /^unknown option --public-kye \(did you mean --public-key\?\)\./],
    ['jobs retyr x', /^unknown command "jobs retyr"\./],
    ['jobs retry', /^give the ID of a job: /],
    ['key', /^give the address of the user/],
  ] as const) {
    assert.match((await ibid(line)).failed, expected, line);
  }
  assert.equal(existsSync(join(folder, 'none')), false);
});

test('a command on a DATA_DIR without a database names the folder and creates nothing', async () => {
  const empty = join(folder, 'empty');
  await mkdir(empty);
  for (const DATA_DIR of [join(folder, 'none'), empty, join(folder, 'none', 'below')]) {
    for (const line of ON_OWN_DATABASE) {
      const { isSound, failed } = await ibid(line, { DATA_DIR });
      assert.equal(isSound, false, line);
      assert.ok(failed.startsWith(`no database in ${DATA_DIR}: set DATA_DIR`), `${line}: ${failed}`);
    }
    assert.equal(existsSync(join(DATA_DIR, 'postgres')), false);
  }
  for (const made of ['none', 'backups', 'report.json', 'ada.zip']) assert.equal(existsSync(join(folder, made)), false);
});

test('a command on a database without tables says so and creates none', async () => {
  const DATABASE_URL = await makeEmptyDatabase();
  for (const line of ON_A_DATABASE) {
    // This form needs no database; its key is in DATA_DIR.
    if (line === 'verify --public-key') continue;
    assert.match((await ibid(line, { DATABASE_URL })).failed, /^the database has no tables: set DATABASE_URL/, line);
  }
  const [row] = await openOwner(DATABASE_URL).query<{ count: number }>(sql`
    select count(*)::int from pg_class where relnamespace = 'public'::regnamespace`);
  assert.equal(row?.count, 0);
});

/** Runs a program of bin in a child process. */
function run(args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATA_DIR: join(folder, 'of-process'),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

test('start --help and --version start no service, and a wrong call of a program exits with 1', async () => {
  const calls = [
    ['bin/ibid', 'start', '--help'],
    ['dist/main.mjs', 'start', '-h'],
    ['bin/ibid', '-v'],
    ['bin/ibid', 'start', 'now'],
  ];
  const asked = await Promise.all(calls.map(run));
  assert.deepEqual(
    asked.map(({ code }) => code),
    [0, 0, 0, 1],
  );
  assert.match(asked[0]?.stdout ?? '', /^Usage:\n {2}ibid start /);
  assert.equal(asked[1]?.stdout, asked[0]?.stdout);
  assert.equal(asked[2]?.stdout, `ibid ${version}\n`);
  assert.match(asked[3]?.stderr ?? '', /^ibid: start takes no arguments/);
  assert.equal(existsSync(join(folder, 'of-process')), false);
});

test('a command ends silently when its output is no longer read', async () => {
  const child = spawn(process.execPath, ['bin/ibid', 'config', '--explain'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Closed before the first write, as head does after its last line.
  child.stdout.destroy();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const [code] = await once(child, 'close');
  assert.deepEqual([code, stderr], [0, '']);
});
