import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { runningPostgres } from '@ibid/postgres-server/running.ts';
import { openDb } from '../../src/platform/db/db.ts';
import { sql } from '../../src/platform/db/sql.ts';
import { documentedCommands } from '../documented-commands.ts';
import { freePort, makeFolder, spawnService, worldOfProcess } from '../process.ts';
import { signedInClient } from '../signed-in.ts';
import { untilWalIsStored } from '../stored-wal.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const THIS = 'test/operations/documented-commands.ts';

/** Commands that need an empty folder instead of the service's own. */
const RESTORES = /^npx ibid (restore|resume)/;
/** `doctor` reports missing parts of a test: certificates, a mail server. It exits with 1 if that is a problem. */
const MAY_FIND = /^npx ibid doctor/;

/** Needs npm's registry. */
test('each command of the documents for operators runs verbatim, on a service with the names that it uses', async (t) => {
  t.after(() => rm(join(ROOT, 'sbom.cdx.json'), { force: true }));
  const folder = await makeFolder();
  // Like a project that has installed the package.
  await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true });
  await symlink(join(ROOT, 'bin', 'ibid'), join(folder, 'node_modules', '.bin', 'ibid'));
  // Makes the command fail if the answer is an error.
  await writeFile(join(folder, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
  const [DATA_DIR, port] = [join(folder, 'data'), await freePort()];
  const IBID = `http://127.0.0.1:${port}`;
  const options = {
    BACKUP_URL: `file://${folder}/backups`,
    BACKUP_WAL: '1d',
    PASSWORD_SIGN_IN: 'on',
    PORT: String(port),
    PUBLIC_URL: IBID,
  };
  const service = spawnService({ DATA_DIR, ...options });
  await service.ready;
  using world = worldOfProcess(IBID, { dataDir: DATA_DIR });
  const owner = await world.owner();
  const { body: acme } = await owner.post('/v1/workspaces', { name: 'acme' });
  assert.equal(acme.slug, 'acme');
  const person = await world.owner('ada@example.com');
  const ada = await signedInClient(world, person.user_id);
  // Wikis that only she owns would prevent the deletion of her account.
  await person.send('DELETE', `/v1/wikis/${person.wiki_id}`);

  const connection = runningPostgres(DATA_DIR);
  assert.ok(connection);
  const db = openDb({ connection: { ...connection, user: SUPERUSER }, connections: 1 });
  const [failed] = await db.query<{ job_id: string }>(sql`
    insert into background_jobs (name, lane, key, status, failures, error)
    values ('send-invitation-mail', 'mail', 'inv_gone', 'failed', 10, 'the mail server refused it') returning job_id`);
  await db.close();

  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = {
    ...{ PATH, NODE_COMPILE_CACHE, HOME: folder, ...options, IBID, WORKSPACE: acme.workspace_id },
    ACCESS_TOKEN: ada.tokens.access_token,
    KEY: owner.token,
  };
  const ended: string[] = [];
  let restores = 0;
  let target = DATA_DIR;
  let moment = '';
  for (const { path, text } of documentedCommands().filter(({ how }) => 'test' in how && how.test === THIS)) {
    if (/^npx ibid restore/.test(text)) target = join(folder, `restored-${(restores += 1)}`);
    const command = text.replace('JOB_ID', failed?.job_id ?? '').replace(/--at 20\S+/, `--at ${moment}`);
    const cwd = /^npm /.test(text) ? ROOT : folder;
    const where = { ...env, DATA_DIR: RESTORES.test(text) ? target : DATA_DIR };
    const { code, output } = await run(command, cwd, where);
    ended.push(`${path}: ${command}`);
    t.diagnostic(`${code} ${command}: ${output.trim().split('\n')[0]?.slice(0, 100)}`);
    if (!MAY_FIND.test(text)) assert.equal(code, 0, `${path}: ${command}\n${output}`);
    if (text === 'npx ibid backup') {
      await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Before the moment', markdown: 'x' });
      moment = new Date().toISOString();
      await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'After the moment', markdown: 'x' });
      await untilWalIsStored(DATA_DIR, join(folder, 'backups'));
    }
  }
  assert.ok(ended.length > 30, `${ended.length} commands`);
  service.kill('SIGTERM');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
});

interface Ran {
  code: number;
  output: string;
}

function run(command: string, cwd: string, env: Record<string, string | undefined>): Promise<Ran> {
  return new Promise((resolve) => {
    execFile('bash', ['--norc', '-euc', command], { cwd, env, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}
