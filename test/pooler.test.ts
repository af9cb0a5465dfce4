import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { SUPERUSER } from '@ibid/postgres-server/cluster.ts';
import { startPostgres } from '@ibid/postgres-server/postgres.ts';
import { runDoctor } from '../src/operation/cli/doctor/doctor.ts';
import { PACKAGE } from '../src/platform/core/package/package-files.ts';
import { openServiceDb } from '../src/platform/db/db.ts';
import { SERVICE } from '../src/platform/db/request-context.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { cleanUp } from './clean-up.ts';
import { addressOf } from './database-address.ts';
import { longTest } from './extent.ts';
import { openForgetfulPooler, PGBOUNCER, startPgBouncer } from './pooler.ts';
import { makeFolder } from './process.ts';
import { openOwner, openWorld } from './world.ts';

const folder = await makeFolder();
const postgres = await startPostgres({ dataDir: folder, log: () => undefined });
cleanUp(() => postgres.stop());
const { connection } = postgres;
const direct = addressOf(connection);
const at = (user: string, port: number) => `postgres://${user}@127.0.0.1:${port}/${connection.database}`;
const db = openOwner(addressOf({ ...connection, user: SUPERUSER }));
// The service's role may log in, and the socket trusts the user name of the client.
await writeFile(join(folder, 'postgres', 'pg_hba.conf'), 'local all all trust\n');
await db.query(sql`select pg_reload_conf()`);

/** Returns the output of `ibid doctor`. */
async function doctor(env: Record<string, string>): Promise<string> {
  const lines: string[] = [];
  await runDoctor({ DATA_DIR: join(folder, 'files'), ...env }, [], (line) => lines.push(line));
  return lines.join('\n');
}

test('the service refuses to start through a pooler that drops start options, rather than run without row-level security', async () => {
  const port = await openForgetfulPooler(connection);
  await assert.rejects(openWorld({ DATABASE_URL: at(connection.user, port), ROLE: 'web' }), {
    name: 'StartError',
    message: /runs the service as "ibid".*SERVICE_DATABASE_URL/,
  });
  assert.match(
    await doctor({ DATABASE_URL: at(connection.user, port) }),
    /^problem +sessions: .*runs the service as "ibid".*SERVICE_DATABASE_URL/m,
  );
});

test('a login of its own gives the service its settings through any pooler, and without the settings it refuses to start', async (t) => {
  await db.query(raw('alter role ibid_service login'));
  const port = await openForgetfulPooler(connection);
  const env = { DATABASE_URL: direct, SERVICE_DATABASE_URL: at('ibid_service', port), ROLE: 'web' };
  const wanted = /run "(alter role ibid_service set plan_cache_mode = 'force_generic_plan'; alter role [^"]+)"/;
  await assert.rejects(openWorld(env), ({ name, message }: Error) => name === 'StartError' && wanted.test(message));

  // An owner with the right to alter the role sets them.
  await db.query(raw(`alter role ${connection.user} createrole`));
  await db.query(raw(`grant ibid_service to ${connection.user} with admin option`));
  const world = await openWorld(env);
  const [owner, stranger] = [await world.owner(), await world.owner()];
  const { body: page } = await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'Kept', markdown: 'Words.' });
  const place = `/v1/wikis/${owner.wiki_id}/pages/${page.page_id}`;
  assert.deepEqual([(await owner.get(place)).status, (await stranger.get(place)).status], [200, 403]);

  await db.query(raw(`alter role ibid_service in database ${connection.database} reset statement_timeout`));
  const service = openServiceDb({ connection: { connectionString: at('ibid_service', port) }, isOwnLogin: true });
  t.after(() => service.close());
  await assert.rejects(service.in(SERVICE).query(sql`select 1`), {
    name: 'UnsafeSession',
    message: /run "alter role ibid_service set statement_timeout = '30s'"\.$/,
  });
});

test('the roles in the installation document are sufficient, and neither is a superuser', async () => {
  const document = await readFile(new URL('docs/operations/install.md', PACKAGE), 'utf8');
  const statements = (/```sql\n([\s\S]*?)```/.exec(document)?.[1] ?? '')
    .split(';')
    .map((statement) => statement.trim());
  // The server already has a database of that name, and therefore the service's role.
  for (const statement of statements.filter((each) => each !== '' && !each.startsWith('create role ibid_service')))
    await db.query(raw(statement.replaceAll(/\bibid\b/g, 'wiki')));
  const DATABASE_URL = addressOf({ ...connection, user: 'wiki', database: 'wiki' });
  const world = await openWorld({ DATABASE_URL, ROLE: 'web' });
  assert.equal((await (await world.owner()).get('/v1/me')).status, 200);
  const [strong] = await db.query(sql`
    select from pg_roles where rolname in ('wiki', 'ibid_service') and (rolsuper or rolcreaterole or rolbypassrls)`);
  assert.equal(strong, undefined);
});

for (const program of PGBOUNCER) {
  longTest(
    'through PgBouncer in transaction mode, concurrent callers see only their own data, and files become pages',
    async () => {
      const port = await startPgBouncer(program, connection, 200);
      const world = await openWorld({ DATABASE_URL: direct, SERVICE_DATABASE_URL: at('ibid_service', port) });
      const owners = await Promise.all(Array.from({ length: 6 }, () => world.owner()));
      for (const owner of owners) {
        await world.upload(owner, owner.wiki_id, { 'weft.md': '# Weft\n\nA shuttle carries it.\n' });
      }
      const makeAndRead = async (owner: (typeof owners)[number], i: number) => {
        const pages = `/v1/wikis/${owner.wiki_id}/pages`;
        const { body } = await owner.post(
          pages,
          { title: `Mine ${i}`, markdown: 'Words.' },
          { 'idempotency-key': 'k' },
        );
        const others = owners.filter((other) => other !== owner);
        for (let turn = 0; turn < 8; turn += 1) {
          const answers = await Promise.all([owner, ...others].map((each) => each.get(`${pages}/${body.page_id}`)));
          assert.deepEqual(
            answers.map(({ status }) => status),
            [200, ...others.map(() => 403)],
          );
          assert.equal((await owner.get(pages)).body.length, 2);
        }
      };
      await Promise.all(owners.map(makeAndRead));
      const found = await doctor({ DATABASE_URL: direct, SERVICE_DATABASE_URL: at('ibid_service', port) });
      assert.match(found, /^ok +sessions: .*row-level security, through a pooler \(SERVICE_DATABASE_URL\)$/m);
    },
  );

  longTest('a PgBouncer that mixes up the prepared statements of its clients is refused', async () => {
    const port = await startPgBouncer(program, connection, 0);
    const SERVICE_DATABASE_URL = at('ibid_service', port);
    await assert.rejects(openWorld({ DATABASE_URL: direct, SERVICE_DATABASE_URL, ROLE: 'web' }), {
      name: 'StartError',
      message: /does not keep the prepared statements of its clients apart: use PgBouncer 1\.21/,
    });
    const found = await doctor({ DATABASE_URL: direct, SERVICE_DATABASE_URL });
    assert.match(found, /^problem +sessions: .*statements of its clients apart/m);
  });
}
