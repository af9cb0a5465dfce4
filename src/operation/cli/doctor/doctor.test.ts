import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { SMTPServer } from 'smtp-server';
import { cleanUp } from '../../../../test/clean-up.ts';
import { longTest } from '../../../../test/extent.ts';
import { startMailServer, startRefusingMailServer, startSilentServer } from '../../../../test/mail-server.ts';
import { startOpenIdProvider } from '../../../../test/openid-provider.ts';
import { freePort, makeFolder } from '../../../../test/process.ts';
import { startS3Server } from '../../../../test/s3-server.ts';
import { startTlsServer } from '../../../../test/tls-server.ts';
import { makeDatabase, openOwner, openWorld } from '../../../../test/world.ts';
import { PACKAGE } from '../../../platform/core/package/package-files.ts';
import { raw, sql } from '../../../platform/db/sql.ts';
import { openStore } from '../../../platform/providers/storage/open-storage.ts';
import { readS3Url } from '../../../platform/providers/storage/s3-place.ts';
import type { Finding } from '../../operator/checks/finding.ts';
import { runConfigCommand } from '../config.ts';
import { CHECK_NAMES, runDoctor } from './doctor.ts';

const folder = await makeFolder();
const [mail, refusing, silent, s3, openId, DATABASE_URL, tls] = await Promise.all([
  startMailServer(),
  startRefusingMailServer(),
  startSilentServer(),
  startS3Server(),
  startOpenIdProvider(),
  makeDatabase(),
  startTlsServer(folder),
]);
cleanUp(() => Promise.all([mail.stop(), refusing.stop(), silent.stop(), s3.stop(), openId.stop()]));
const env = {
  DATABASE_URL,
  DATA_DIR: join(folder, 'data'),
  STORAGE_URL: s3.url,
  BACKUP_URL: s3.url.replace('/folder', '/backups'),
  SMTP_URL: mail.url,
  MAIL_FROM: 'wiki@example.com',
  OIDC_ISSUER: openId.issuer,
  OIDC_CLIENT_ID: 'ES256',
};
const world = await openWorld(env);
const owner = await world.owner();
const { db } = world;
const { port: PORT } = new URL(world.address);
const running = { ...env, PORT, PUBLIC_URL: world.address };

async function doctor(changed: Record<string, string> = {}, limitMs = 10_000) {
  const lines: string[] = [];
  const isSound = await runDoctor({ ...running, ...changed }, ['--json'], (line) => lines.push(line), limitMs);
  const { ok, findings } = JSON.parse(lines.join('\n')) as { ok: boolean; findings: (Finding & { check: string })[] };
  assert.equal(ok, isSound);
  for (const { level, advice, seen } of findings) assert.equal(level === 'ok', advice === undefined, seen);
  return {
    isSound,
    findings,
    /** Formats the findings of a check as `level: seen → advice`. */
    of: (name: string) =>
      findings
        .filter(({ check }) => check === name)
        .map(({ level, seen, advice }) => `${level}: ${seen}${advice ? ` → ${advice}` : ''}`)
        .join('\n'),
  };
}

test('with a healthy service every check is ok, and the doctor leaves nothing in the stores', async () => {
  await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n' });
  await db.query(sql`
    insert into backup_status (last_outcome, last_backup_id, last_made_at) values ('succeeded', 'b', now() - interval '1 hour')`);
  const { findings, isSound } = await doctor();
  const names = new Set(findings.map(({ check }) => check));
  // No server here speaks TLS, and the database check reports only databases that cannot be opened.
  const silent = ['certificates', 'database'];
  assert.deepEqual(
    CHECK_NAMES.filter((name) => !names.has(name)),
    silent,
  );
  // The PostgreSQL of a test run has fsync off, and the disk of a test machine may be nearly full.
  const others = findings.filter(({ check, level }) => level !== 'ok' && check !== 'postgres' && check !== 'disk');
  assert.deepEqual(others, []);
  assert.equal(isSound, !findings.some(({ level }) => level === 'problem'));
  assert.equal(mail.messages.length, 0);
  const { openBucket } = await import('../../../platform/providers/storage/s3-bucket.ts');
  const bucket = openBucket(readS3Url(s3.url));
  for (const prefix of ['folder/doctor/', 'backups/']) {
    for await (const { key } of bucket.list(prefix)) assert.fail(`${key} is left`);
  }
  bucket.close();
});

test('servers that are down, refuse or hang are told apart, with advice, within the time of a check', async () => {
  const nowhere = await freePort();
  const [first, second, third] = await Promise.all([
    doctor(
      {
        SMTP_URL: silent.url,
        STORAGE_URL: s3.url.replace('/wiki/', '/nothing/'),
        OIDC_ISSUER: `${openId.issuer}/other`,
        PUBLIC_URL: tls.url,
        PORT: String(nowhere),
      },
      5_000,
    ),
    doctor({
      SMTP_URL: refusing.url,
      STORAGE_URL: s3.url.replace('//S3RVER:', '//wrong:'),
      OIDC_ISSUER: `http://127.0.0.1:${nowhere}`,
      PORT: new URL(openId.issuer).port,
      PUBLIC_URL: 'http://wiki.example.com',
    }),
    doctor({ SMTP_URL: `smtp://127.0.0.1:${nowhere}`, DATABASE_URL: `postgres://me:hidden@127.0.0.1:${nowhere}/ibid` }),
  ]);
  assert.match(first.of('mail'), /^problem: .*no result within 5 s → /);
  assert.match(first.of('buckets'), /^problem: STORAGE_URL .* put failed: NoSuchBucket.* → create the bucket/);
  assert.match(first.of('issuer'), /^problem: .* → start the issuer, or correct OIDC_ISSUER/);
  assert.match(first.of('certificates'), /^problem: public, localhost:.* is not trusted/);
  assert.match(first.of('service'), /^warning: .* does not answer → /);
  assert.match(second.of('mail'), /^problem: .*\(reply 535\) → correct the user and password/);
  assert.match(second.of('buckets'), /STORAGE_URL .*InvalidAccessKeyId.* → correct the key/);
  assert.match(second.of('issuer'), /^problem: .*ECONNREFUSED.* → start the issuer/);
  assert.match(second.of('service'), /^problem: another program answers at .* → stop it, or set PORT/);
  assert.match(second.of('public'), /without TLS → put a TLS proxy/);
  assert.match(third.of('mail'), /^problem: .*ECONNREFUSED/);
  assert.match(third.of('database'), /^problem: .* does not answer \(ECONNREFUSED\): start it/);
  for (const { findings, isSound } of [first, second, third]) {
    assert.equal(isSound, false);
    assert.ok(!JSON.stringify(findings).includes('hidden'));
  }
});

test('faults in the database and the store are named: indexes, files, jobs, backups, migrations', async () => {
  const [{ sha256 = '' } = {}] = await db.query<{ sha256: string }>(sql`select sha256 from blob_references limit 1`);
  const content = Buffer.from('of nobody');
  const { blobs, close } = await openStore(readS3Url(s3.url), join(folder, 'incoming'));
  await blobs.keepAll([{ sha256: createHash('sha256').update(content).digest('hex'), content }]);
  const [row] = await db.query<{ sha256: string }>(sql`
    update blobs set kept_at = now() - interval '2 hours' returning sha256`);
  await blobs.removeAll([row?.sha256 ?? sha256], Date.now() + 60_000);
  close();
  await world.person();
  // Two rows have the same key, so the index build fails and leaves an invalid index.
  const twice = 'create unique index concurrently twice on users ((1))';
  await db.session((_query, run) => assert.rejects(run(twice)));
  await db.query(raw('drop index api_keys_by_user'));
  await db.query(sql`
    insert into background_jobs (job_id, name, lane, key, status, run_after) values
      ('gone', 'of-another-release', 'mail', 'a', 'failed', now()),
      ('late', 'of-another-release', 'mail', 'b', 'queued', now() - interval '1 hour')`);
  await db.query(
    sql`update backup_status set last_outcome = 'failed', last_error = 'no room', last_made_at = now() - interval '3 days'`,
  );
  const found = await doctor();
  assert.match(found.of('files'), /^problem: missing files: 1, [0-9a-f]{64} .* → restore them/m);
  assert.match(found.of('files'), /^warning: files without a row: 1 /m);
  assert.match(found.of('indexes'), /^problem: invalid: twice → .*reindex index concurrently "twice"/m);
  assert.match(found.of('indexes'), /missing indexes → .*create index concurrently api_keys_by_user on api_keys/m);
  assert.match(found.of('jobs'), /^warning: failed jobs: 1 of-another-release → "ibid jobs"/m);
  assert.match(found.of('jobs'), /^problem: workers: 1, due jobs: \d+, the oldest waiting for 60 minutes → /m);
  assert.match(found.of('backups'), /^problem: outcome of the last backup: failed \(no room\)/m);
  assert.match(found.of('backups'), /^problem: the latest backup is 3 days old → set BACKUP_SCHEDULE/m);

  await db.query(sql`delete from migrations where name = (select max(name) from migrations)`);
  await db.query(sql`update service_controls set jobs_are_paused = true`);
  await db.query(sql`insert into service_controls (jobs_are_paused) values (true) on conflict do nothing`);
  const older = await doctor();
  assert.match(older.of('schema'), /^warning: pending migrations: 1, \w+\.sql → .*migrate --plan/);
  assert.match(older.of('jobs'), /are paused, as after a restore → run "ibid resume"/);
  await db.query(sql`insert into migrations (name) values ('999_tomorrow.sql')`);
  assert.match((await doctor()).of('schema'), /^problem: .*newer Ibid \(it has 999_tomorrow\.sql\)/);
});

test('folders and files that other users can read or change are named', async () => {
  const BACKUP_KEY_FILE = join(folder, 'key');
  const IBID_CONFIG = join(folder, 'ibid.conf');
  const DATA_DIR = join(folder, 'open');
  await Promise.all([writeFile(BACKUP_KEY_FILE, 'ab'.repeat(32)), writeFile(IBID_CONFIG, ''), mkdir(DATA_DIR)]);
  await Promise.all([chmod(BACKUP_KEY_FILE, 0o644), chmod(IBID_CONFIG, 0o666), chmod(DATA_DIR, 0o755)]);
  const permissions = (await doctor({ BACKUP_KEY_FILE, IBID_CONFIG, DATA_DIR })).of('permissions');
  assert.match(permissions, /^warning: any user can read \S+\/key \(mode 0644\) → chmod o-rwx/m);
  assert.match(permissions, /^problem: any user can change \S+\/ibid\.conf \(mode 0666\)/m);
  assert.match(permissions, /^warning: any user can read \S+\/open/m);
});

test('a mail server that is untrusted, wants a password or wants another sender is reported as such', async () => {
  const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(folder, name))));
  const untrusted = new SMTPServer({ logger: false, authOptional: true, key, cert });
  const locked = new SMTPServer({ logger: false, allowInsecureAuth: true, disabledCommands: ['STARTTLS'] });
  const strict = new SMTPServer({
    logger: false,
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_address, _session, done) =>
      done(Object.assign(new Error('sender is not yours'), { responseCode: 553 })),
  });
  const servers = [untrusted, locked, strict];
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))));
  cleanUp(() => Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))));
  const [first = '', second = '', third = ''] = await Promise.all(
    servers.map(async ({ server }) => {
      const { port } = server.address() as AddressInfo;
      return (await doctor({ SMTP_URL: `smtp://127.0.0.1:${port}` })).of('mail');
    }),
  );
  assert.match(first, /^problem: .*self-signed certificate → .* NODE_EXTRA_CA_CERTS/);
  assert.doesNotMatch(first, /use-system-ca|port 465/);
  assert.match(second, /^problem: .* rejects the sender .*530.* → put the user and the password into SMTP_URL$/);
  assert.match(third, /^problem: .* rejects the sender .*553 sender is not yours → set MAIL_FROM/);
});

test('a bucket in another region is reported with that region, and a throttling bucket as busy', async () => {
  const answers: [status: number, code: string, more: string][] = [
    [400, 'AuthorizationHeaderMalformed', '<Region>eu-central-1</Region>'],
    [503, 'SlowDown', ''],
  ];
  const found = await Promise.all(
    answers.map(async ([status, code, more]) => {
      const server = createServer((request, response) => {
        request.resume();
        const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>Wait.</Message>${more}</Error>`;
        response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      cleanUp(() => void server.close());
      const { port } = server.address() as AddressInfo;
      return (await doctor({ STORAGE_URL: `s3://key:secret@127.0.0.1:${port}/wiki` })).of('buckets');
    }),
  );
  assert.match(found[0] ?? '', /AuthorizationHeaderMalformed.* → set region=eu-central-1 in STORAGE_URL$/m);
  assert.match(found[1] ?? '', /SlowDown.* → it is overloaded: retry later/m);
});

test('a changed collation version is reported, with advice about its indexes', async () => {
  const url = new URL(await makeDatabase());
  const owner = openOwner(url.href);
  const admin = new URL(url);
  admin.username = SUPERUSER;
  await openOwner(admin.href).query(sql`
    update pg_database set datcollversion = '0.9' where datname = current_database()`);
  const seen = async () => (await doctor({ DATABASE_URL: url.href })).of('postgres');
  const refresh = `alter database ${url.pathname.slice(1)} refresh collation version$`;
  assert.match(
    await seen(),
    new RegExp(`^warning: .* collation version 0\\.9, .*; affected indexes: 0 → ${refresh}`, 'm'),
  );
  await owner.query(sql`create index by_title on wikis (title collate "default")`);
  assert.match(
    await seen(),
    new RegExp(`; affected indexes: 1 → while nothing writes, reindex database; then ${refresh}`, 'm'),
  );
});

test('backups from before a restore are found, and a missing folder is not created', async () => {
  const empty = await makeDatabase();
  const backups = join(folder, 'kept');
  const seen = async () => (await doctor({ DATABASE_URL: empty, BACKUP_URL: `file://${backups}` })).of('backups');
  assert.match(await seen(), /^warning: no backup has been made yet → /);
  assert.equal(existsSync(backups), false);
  const id = '20261123T063000Z-0a1b2c';
  await mkdir(join(backups, 'backups', id), { recursive: true });
  await writeFile(join(backups, 'backups', id, 'manifest'), 'of another key');
  assert.match(
    await seen(),
    new RegExp(`^warning: .* since it was created or restored; the latest .* is ${id} → run "ibid backup"$`),
  );
});

test('invalid options are all named, and no other check runs', async () => {
  const { findings, isSound } = await doctor({ ROLE: 'king', DATABSE_URL: 'x', PLANS_FILE: join(folder, 'none') });
  assert.deepEqual([isSound, findings.map(({ check }) => check)], [false, ['options', 'options', 'options']]);
});

longTest('the commands in the documents about configuring and troubleshooting work', async () => {
  const documents = await Promise.all(
    ['configure', 'troubleshoot'].map((name) => readFile(new URL(`docs/operations/${name}.md`, PACKAGE), 'utf8')),
  );
  const commands = documents.flatMap((text) =>
    [...text.matchAll(/^npx ibid (.*?)(?: +#.*)?$/gm)].map(([, line = '']) => line),
  );
  assert.ok(commands.includes('doctor') && commands.includes('config --check'), commands.join('\n'));
  for (const command of new Set(commands)) {
    const lines: string[] = [];
    const [name, ...args] = command.split(' ');
    if (name === 'config') runConfigCommand(running, args, (line) => lines.push(line));
    else await runDoctor(running, args, (line) => lines.push(line));
    assert.notEqual(lines.join('\n'), '', command);
  }
  const [, troubleshoot = ''] = documents;
  const named = [...troubleshoot.matchAll(/^\|[^|]*\| `(\w+)`/gm)].map(([, check]) => check);
  assert.deepEqual([...new Set(named)].sort(), [...CHECK_NAMES].sort(), 'each check is in the table');
  // The process exits by itself after it has written all findings.
  const ibid = new URL('src/operation/cli/ibid.ts', PACKAGE).pathname;
  const ended = await promisify(execFile)(process.execPath, ['--no-warnings', ibid, 'doctor', '--json'], {
    env: { PATH: process.env.PATH, ...running, ROLE: 'king' },
  }).catch((error: { code: number; stdout: string }) => error);
  assert.equal('code' in ended && ended.code, 1);
  assert.equal(JSON.parse(ended.stdout).findings[0].check, 'options');
});
