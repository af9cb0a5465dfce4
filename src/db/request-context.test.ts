import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { makeFolder } from '../../test/process.ts';
import { makeDatabase, openWorld } from '../../test/world.ts';
import { PREPARE_CONTEXT, type RequestContext, sendInContext } from './request-context.ts';
import { SERVICE_ROLE } from './service-session.ts';
import { sql } from './sql.ts';

/**
 * The messages that a client sends to PostgreSQL by their first letters, with "<" for each answer of the server.
 * PostgreSQL's documentation, "Message Formats": P(arse) B(ind) D(escribe) E(xecute) S(ync) Q(uery).
 */
const wire = { sent: '' };

// Must run before the database is dropped, which would break the connection.
after(async () => {
  client.release();
  await pool.end();
  proxy.close();
});
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
    // Only the first message of a connection has no letter before its length.
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
await client.query(PREPARE_CONTEXT);

const pages = { name: 'pages', text: 'select title from pages where wiki_id = $1', values: [owner.wiki_id] };
const titles = async () => (await client.query('select title from pages')).rows;
const setting = async (name: string) =>
  (await client.query(`select current_setting('${name}', true) as value`)).rows[0].value;

test('the driver has the version whose internals request-context.ts overrides', async () => {
  const path = new URL('../../node_modules/pg/package.json', import.meta.url);
  const { version } = JSON.parse(await readFile(path, 'utf8'));
  assert.equal(
    version,
    '8.23.1',
    'ContextQuery in request-context.ts overrides internals of pg.Query. Compare lib/query.js and lib/client.js of both ' +
      'versions: prepare() must send Parse, Bind, Describe, Execute and one Sync, at its end; handleDataRow() and ' +
      'handleCommandComplete() must be called for each of those messages, those of the first Execute too; the connection ' +
      'must have bind() and execute(). Where that holds and the tests below pass, write the new version here.',
  );
});

test('context and statement are sent together, with one Sync after both, and take one round trip', async () => {
  wire.sent = '';
  await sendInContext(client, context, pages);
  assert.equal(wire.sent, 'BEPBDES<', 'the first call also prepares the statement');
  wire.sent = '';
  await sendInContext(client, context, pages);
  assert.equal(wire.sent, 'BEBDES<');
});

test('the rows, the count and the command are those of the statement', async () => {
  const { rows, rowCount, command, fields } = await sendInContext(client, context, pages);
  assert.deepEqual([rows, rowCount, command], [[{ title: 'A page' }], 1, 'SELECT']);
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['title'],
  );
});

test('the context ends with its transaction, also where the statement fails', async () => {
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

test('where the context cannot be set the statement does not run, and the connection goes on', async () => {
  const unknown = { who: 'unknown' } as unknown as RequestContext;
  const marking = { name: 'marking', text: "select set_config('canary.ran', $1, false)", values: ['yes'] };
  await assert.rejects(sendInContext(client, unknown, marking), { code: '20000' });
  assert.equal(await setting('canary.ran'), null);
  await sendInContext(client, context, marking);
  assert.equal(await setting('canary.ran'), 'yes');
});
