import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/process.ts';
import { OPTIONS } from '../config/options.ts';
import { inspectConfig, readConfig } from '../config.ts';
import { runConfigCommand } from './config.ts';
import { runMigrateCommand } from './migrate.ts';

const folder = await makeFolder();
let files = 0;

async function fileOf(content: string | Uint8Array): Promise<string> {
  const path = join(folder, `file-${(files += 1)}`);
  await writeFile(path, content);
  return path;
}

function config(env: Record<string, string>, ...args: string[]) {
  const lines: string[] = [];
  const isGood = runConfigCommand(env, args, (line) => lines.push(line));
  return { isGood, lines, text: lines.join('\n') };
}

test('options come from a file and from secret files, and the environment wins, even with an empty value', async () => {
  const secret = await fileOf('postgres://me:pw@db/ibid\n');
  const IBID_CONFIG = await fileOf(
    `\uFEFF# of the file\r\n\r\nPORT=9000\r\n  HOST = "::1"\nMAIL_FROM='A # B <a@example.com>'\nLOG_LEVEL=debug\nSIGN_UP=open\nDATABASE_URL_FILE=${secret}\n`,
  );
  const read = readConfig({ IBID_CONFIG, LOG_LEVEL: 'warn', SIGN_UP: '', SMTP_URL_FILE: '', PATH: '/bin' });
  assert.deepEqual(
    [read.PORT, read.HOST, read.MAIL_FROM, read.LOG_LEVEL, read.SIGN_UP, read.DATABASE_URL],
    [9000, '::1', 'A # B <a@example.com>', 'warn', 'invited', 'postgres://me:pw@db/ibid'],
  );
  assert.equal(
    readConfig({ IBID_CONFIG, DATABASE_URL: 'postgres://other/ibid' }).DATABASE_URL,
    'postgres://other/ibid',
  );
  const other = await fileOf('s3cret');
  assert.equal(readConfig({ OIDC_CLIENT_SECRET: '', OIDC_CLIENT_SECRET_FILE: other }).OIDC_CLIENT_SECRET, 's3cret');
});

test('config --check names every problem with file and line, shows no secret, and fails', async () => {
  const lines = await fileOf('two\nlines');
  const IBID_CONFIG = await fileOf(
    [
      'PORT=80800',
      'SMPT_URL=smtp://me:hidden@mail',
      'hidden',
      'LOG_LEVEL=info # loud',
      'ROLE="web',
      'HOST=a',
      'HOST=b',
      'FAVOURITE_COLOUR=red',
      'STRIPE_SECRET_KEY=hidden',
      `STRIPE_SECRET_KEY_FILE=${lines}`,
      `SMTP_URL_FILE=${lines}`,
      'MAIL_FROM_FILE=/from',
      'IBID_CONFIG=/other',
      `STRIPE_WEBHOOK_SECRETS_FILE=${folder}`,
      'OIDC_ISSUER=http://id.example.org',
      'OIDC_AUDIENCE=wiki',
    ].join('\n'),
  );
  const env = {
    IBID_CONFIG,
    DATABSE_URL: 'x',
    OIDC_CLIENT_SECRETFILE: 'x',
    STORAGE_URL: 's3://minio/hidden',
    DATABASE_URL: 'mysql://db/ibid?user=me&password=hidden',
    BACKUP_URL: 's3://hidden@minio/bucket',
    BACKUP_KEY_FILE: join(folder, 'none'),
    PLANS_FILE: join(folder, 'plans'),
  };
  const { isGood, text, lines: problems } = config(env, '--check');
  assert.equal(isGood, false);
  for (const expected of [
    /^DATABSE_URL is not an option: use DATABASE_URL, or unset it$/m,
    /^OIDC_CLIENT_SECRETFILE .* use OIDC_CLIENT_SECRET_FILE/m,
    /^\S+:1: PORT is "80800"; it must be a port number/m,
    /^\S+:2: SMPT_URL is not an option: use SMTP_URL$/m,
    /^\S+:3: is not a line of the form NAME=value/m,
    /^\S+:4: LOG_LEVEL has a # after a space/m,
    /^\S+:5: ROLE has an unclosed quote/m,
    /^\S+:7: HOST is already set in line 6/m,
    /^\S+:8: FAVOURITE_COLOUR is not an option: remove it/m,
    /^\S+:9: STRIPE_SECRET_KEY and STRIPE_SECRET_KEY_FILE are both set|^\S+:10: STRIPE_SECRET_KEY and .* both set/m,
    /^\S+:11: SMTP_URL_FILE names \S+, which has more than one line/m,
    /^\S+:12: MAIL_FROM_FILE is not an option, because MAIL_FROM is not a secret/m,
    /^\S+:13: IBID_CONFIG can only be set in the environment/m,
    /^\S+:14: STRIPE_WEBHOOK_SECRETS_FILE names \S+, which cannot be read \(EISDIR\)/m,
    /^DATABASE_URL is "mysql:\/\/db\/ibid\?user=me&password=…"; it must be an address/m,
    /^STORAGE_URL takes an address such as/m,
    /^BACKUP_URL takes an address such as/m,
    /^BACKUP_KEY_FILE names \S+, which cannot be read \(ENOENT\)/m,
    /^PLANS_FILE|plans/m,
    /^OIDC_ISSUER is not a trustworthy address/m,
  ]) {
    assert.match(text, expected);
  }
  assert.ok(!text.includes('hidden'), text);
  assert.equal(new Set(problems).size, problems.length, text);
});

test('PUBLIC_URL must be an origin: a path, query, fragment or login is refused with a correction', () => {
  for (const PUBLIC_URL of [
    'https://x.example/wiki',
    'https://x.example/wiki/',
    'https://x.example//',
    'https://x.example/?a',
    'https://x.example?',
    'https://x.example/#a',
    'https://me:hidden@x.example',
  ]) {
    const { isGood, text } = config({ PUBLIC_URL }, '--check');
    assert.equal(isGood, false, PUBLIC_URL);
    assert.match(
      text,
      /^PUBLIC_URL is ".*"; it must be only a scheme, a host and a port, such as https:\/\/x\.example; /,
    );
    assert.ok(!text.includes('hidden'), text);
  }
  const origins = ['https://x.example/', 'https://X.Example:443', 'http://x.example:8080', 'https://bücher.example'];
  assert.deepEqual(
    origins.map((PUBLIC_URL) => readConfig({ PUBLIC_URL }).PUBLIC_URL),
    ['https://x.example', 'https://x.example', 'http://x.example:8080', 'https://xn--bcher-kva.example'],
    'as browsers write it',
  );
});

test("without the owner's login a process refuses work of the owner, and a command names the login it needs", async () => {
  const own = { SERVICE_DATABASE_URL: 'postgres://ibid_service@db/ibid' };
  const asked = {
    ...own,
    OPERATORS: 'a@example.com',
    BACKUP_URL: 'file:///b',
    BACKUP_SCHEDULE: '6h',
    DATABASE_REPLICA_URLS: 'postgres://ibid_service@db-2/ibid',
  };
  const problemsOf = (env: Record<string, string>) => inspectConfig(env).problems.map((text) => text.split(',')[0]);
  assert.deepEqual(problemsOf(own), []);
  assert.deepEqual(problemsOf(asked), ['OPERATORS is set', 'BACKUP_SCHEDULE is set']);
  assert.deepEqual(problemsOf({ ...asked, ROLE: 'web' }), ['OPERATORS is set']);
  assert.deepEqual(problemsOf({ ...asked, ROLE: 'worker' }), ['BACKUP_SCHEDULE is set']);
  assert.deepEqual(problemsOf({ ...asked, DATABASE_URL: 'postgres://ibid@db/ibid' }), []);
  const DATA_DIR = join(folder, 'never');
  const refused = runMigrateCommand(readConfig({ ...own, DATA_DIR }), [], () => undefined);
  await assert.rejects(refused, /owner of the database: set DATABASE_URL/);
  assert.equal(existsSync(DATA_DIR), false, 'no PostgreSQL of its own was started instead');
});

test('an options file that is missing, not text or a folder is named, and no other problem is reported', async () => {
  for (const path of [join(folder, 'missing'), folder, await fileOf(Uint8Array.of(0x50, 0xff))]) {
    const { lines } = config({ IBID_CONFIG: path }, '--check');
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.ok(lines[0]?.startsWith(`IBID_CONFIG names ${path}, which `), lines[0]);
  }
  for (const args of [[], ['--chekc'], ['more']]) assert.throws(() => config({}, ...args), /ibid config --explain/);
});

test('variables of other programs are not taken for misspelt options, however many there are', () => {
  const foreign =
    'HOME PATH SHELL HOSTNAME PORTS ROLES PGDATABASE PGHOST LOGNAME MAIL MAILTO MAILFROM SMTP_HOST DATA_PATH';
  const more =
    'OTEL_TRACES_SAMPLER OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_HEADERS NODE_ENV IBID_PORT IBID_SERVICE_PORT BACKUP_DIR';
  const env = Object.fromEntries(`${foreign} ${more}`.split(' ').map((name) => [name, 'x']));
  assert.deepEqual(config(env, '--check').lines, [
    `No problems found; 0 of ${Object.keys(OPTIONS).length} options are set.`,
  ]);
  for (const [misspelt, right] of Object.entries({
    STRIPE_WEBHOOK_SECRET: 'STRIPE_WEBHOOK_SECRETS',
    SIGNUP: 'SIGN_UP',
    smtp_url: 'SMTP_URL',
    IBID_CONIFG: 'IBID_CONFIG',
    DATBASE_URL_FILE: 'DATABASE_URL_FILE',
  })) {
    assert.deepEqual(inspectConfig({ [misspelt]: 'x' }).problems, [
      `${misspelt} is not an option: use ${right}, or unset it`,
    ]);
  }
});

test('config --explain shows the value, origin and default of every option, and no secret', async () => {
  const secret = await fileOf('hidden');
  const IBID_CONFIG = await fileOf(
    `PORT=9000\nSMTP_URL=smtps://me:hidden@mail.example.com\nOIDC_CLIENT_SECRET_FILE=${secret}`,
  );
  const { isGood, text } = config({ IBID_CONFIG, LOG_LEVEL: 'warn' }, '--explain');
  assert.ok(isGood);
  for (const name of Object.keys(OPTIONS)) assert.match(text, new RegExp(`^${name}=`, 'm'));
  assert.ok(
    text.includes(`PORT=9000\n  from: ${IBID_CONFIG}:1; default: 8080\n  The port that the API listens on.\n`),
    text,
  );
  assert.ok(text.includes(`SMTP_URL=smtps://…@mail.example.com\n  from: ${IBID_CONFIG}:2; default: empty\n`), text);
  assert.ok(text.includes('LOG_LEVEL=warn\n  from: environment; default: info\n'), text);
  assert.ok(
    text.includes(`OIDC_CLIENT_SECRET=…\n  from: ${secret}, which OIDC_CLIENT_SECRET_FILE names (${IBID_CONFIG}:3)`),
    text,
  );
  assert.ok(text.includes('ROLE=all\n  from: default; default: all\n'), text);
  assert.ok(!text.includes('hidden'), text);
});
