import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { SERVICE_ROLE } from '@ibid/postgres-server/roles.ts';
import pg from 'pg';
import { cleanUp } from '../../../test/clean-up.ts';
import { makeFolder } from '../../../test/process.ts';
import { makeDatabase, openWorld } from '../../../test/world.ts';
import { PACKAGE } from '../core/package/package-files.ts';
import { prepareContext, type RequestContext, sendInContext } from './request-context.ts';
import { sql } from './sql.ts';

/**
 * The first letters of the messages that a client sends to PostgreSQL, with "<" for each answer of the server.
 * PostgreSQL's documentation, "Message Formats": P(arse) B(ind) D(escribe) E(xecute) S(ync) Q(uery).
 */
const wire = { sent: '' };

const database = new URL(await makeDatabase());
const world = await openWorld({ DATABASE_URL: database.href });
const owner = await world.owner();
await owner.post(`/v1/wikis/${owner.wiki_id}/pages`, { title: 'A page', markdown: 'x' });
const [key] = await world.db.query<{ hash: Buffer }>(sql`
  select secret_hash as hash from api_keys where user_id = ${owner.user_id} and workspace_id is null limit 1`);
assert.ok(key);
const context: RequestContext = { who: 'key', hash: key.hash, path: { wiki_id: owner.wiki_id } };

const host = join(await makeFolder(), '.s.PGSQL.5432');
const proxy = createServer((client) => {
  const name = decodeURIComponent(database.hostname);
  const port = Number(database.port || 5432);
  const server = connect(name.startsWith('/') ? { path: join(name, `.s.PGSQL.${port}`) } : { host: name, port });
  let unread = Buffer.alloc(0);
  let hasStarted = false;
  client.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    // The first message of a connection is the only one without a letter before its length.
    for (let letter = hasStarted ? 1 : 0; unread.length >= letter + 4; letter = 1) {
      const end = letter + unread.readInt32BE(letter);
      if (unread.length < end) break;
      if (hasStarted) wire.sent += String.fromCharCode(unread[0] ?? 0);
      hasStarted = true;
      unread = unread.subarray(end);
    }
    server.write(chunk);
  });
  server.on('data', (chunk) => {
    if (!wire.sent.endsWith('<')) wire.sent += '<';
    client.write(chunk);
  });
  client.on('close', () => server.destroy());
  server.on('close', () => client.destroy());
});
await new Promise<void>((resolve) => proxy.listen(host, resolve));
const pool = new pg.Pool({
  host: join(host, '..'),
  port: 5432,
  user: decodeURIComponent(database.username),
  password: decodeURIComponent(database.password),
  database: database.pathname.slice(1),
  options: `-c role=${SERVICE_ROLE}`,
  max: 1,
});
const client = await pool.connect();
cleanUp(async () => {
  client.release();
  await pool.end();
  proxy.close();
});
await client.query(prepareContext(false));

const pages = { name: 'pages', text: 'select title from pages where wiki_id = $1', values: [owner.wiki_id] };
const titles = async () => (await client.query('select title from pages')).rows;
const setting = async (name: string) =>
  (await client.query(`select current_setting('${name}', true) as value`)).rows[0].value;

test('the driver has the version whose internals prepared-query.ts relies on', async () => {
  const path = new URL('node_modules/pg/package.json', PACKAGE);
  const { version } = JSON.parse(await readFile(path, 'utf8'));
  assert.equal(
    version,
    '8.23.1',
    'PreparedQuery in prepared-query.ts replaces pg.Query. Compare lib/query.js and lib/client.js of both ' +
      'versions: the client must call submit() with a connection that has `stream` and `parsedStatements`, and then handle…() ' +
      'for each message of the server, including the first Execute; it must add a statement to `parsedStatements` by the ' +
      '`name` and `text` of the query. If that holds and the tests below pass, write the new version here.',
  );
});

test('context and statement are sent together, with one Sync after both, in one round trip', async () => {
  wire.sent = '';
  await sendInContext(client, context, pages);
  assert.equal(wire.sent, 'BEPBDES<', 'the first call also prepares the statement, and asks for its columns');
  wire.sent = '';
  await sendInContext(client, context, pages);
  assert.equal(wire.sent, 'BEBES<');
});

test('the rows belong to the statement, also when its columns are already known', async () => {
  for (let i = 0; i < 2; i += 1) assert.deepEqual(await sendInContext(client, context, pages), [{ title: 'A page' }]);
  const text = `select $1::text as text, $2::int + 1 as number, $3::bytea as bytes, $4::text[] as list, null as nothing,
    $5::jsonb as json, true as yes, timestamptz '2026-01-02 03:04:05.6+00' as at from generate_series(1, 2)`;
  const values = ['ż\u{1f600}', 41, Buffer.from([0, 255]), ['a"b', null, ''], { a: [1] }];
  for (const name of ['values', 'values', undefined]) {
    const rows = await sendInContext(client, context, { name, text, values });
    const row = {
      text: 'ż\u{1f600}',
      number: 42,
      bytes: Buffer.from([0, 255]),
      list: ['a"b', null, ''],
      nothing: null,
      json: { a: [1] },
      yes: true,
      at: '2026-01-02T03:04:05.600Z',
    };
    assert.deepEqual(rows, [row, row]);
  }
});

test('an unsendable value, or changed columns, fail only their own statement', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const broken = { name: 'broken', text: 'select $1::text', values: [cyclic] };
  await assert.rejects(sendInContext(client, context, broken), TypeError);
  assert.deepEqual(await sendInContext(client, context, pages), [{ title: 'A page' }]);
  await client.query('create temporary table shapes (a int)');
  const shapes = { name: 'shapes', text: 'select * from shapes', values: [] };
  assert.deepEqual(await sendInContext(client, context, shapes), []);
  await client.query('alter table shapes add b int');
  await assert.rejects(sendInContext(client, context, shapes), { code: '0A000' });
});

test('the context ends with its transaction, even if the statement fails', async () => {
  await sendInContext(client, context, pages);
  assert.deepEqual([await titles(), await setting('ibid.wiki')], [[], '']);
  const failing = { name: 'failing', text: 'select 1 / $1::int', values: [0] };
  await assert.rejects(sendInContext(client, context, failing), { code: '22012' });
  assert.deepEqual([await titles(), await setting('ibid.wiki')], [[], '']);
  await client.query('begin');
  await sendInContext(client, context, pages);
  assert.deepEqual(await titles(), [{ title: 'A page' }], 'inside a transaction the context holds until its end');
  await client.query('commit');
  assert.deepEqual(await titles(), []);
});

test('if the context cannot be set, the statement does not run and the connection stays usable', async () => {
  const unknown = { who: 'unknown' } as unknown as RequestContext;
  const marking = { name: 'marking', text: "select set_config('canary.ran', $1, false)", values: ['yes'] };
  await assert.rejects(sendInContext(client, unknown, marking), { code: '20000' });
  assert.equal(await setting('canary.ran'), null);
  await sendInContext(client, context, marking);
  assert.equal(await setting('canary.ran'), 'yes');
});
