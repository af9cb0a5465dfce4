import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../src/platform/core/ids.ts';
import { raw, sql } from '../src/platform/db/sql.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { longTest } from '../test/extent.ts';
import { signedInClient } from '../test/signed-in.ts';
import { openWorld } from '../test/world.ts';

/** More records than one part of a list. */
const MANY = 130;

const world = await openWorld();
const owner = await world.owner('paging@example.com');
const { body: overview } = await owner.get('/v1/overview');
const workspace = `/${overview.session.organizations[0].slug}`;
const wiki = `${workspace}/${overview.wikis[0].slug}`;
const api = `/v1/wikis/${owner.wiki_id}`;
const { body: session } = await (await signedInClient(world, owner.user_id)).post('/v1/auth/browser');

async function open(path: string): Promise<string> {
  const headers = { accept: 'text/html', cookie: `ibid=${session.browser_secret}` };
  const { status, body } = await world.anonymous.send('GET', path, { headers, redirect: 'manual' });
  assert.equal(status, 200, `${path}: ${body}`);
  return body;
}

const create = async (title: string, more: object = {}) =>
  (await owner.post(`${api}/pages`, { title, markdown: '', ...more })).body;

/** Starts at a page and follows the links to the next parts, as a browser without scripts does. */
async function* follow(path: string): AsyncGenerator<string> {
  for (let at: string | undefined = path; at !== undefined; ) {
    const body = await open(at);
    yield body;
    const next = /<a class="button" rel="next" href="([^"]+)"/.exec(body)?.[1];
    at = next?.replaceAll('&amp;', '&');
  }
}

const numbers = Array.from({ length: MANY }, (_, i) => String(i).padStart(3, '0'));

/** Asserts that every record of a list is in exactly one part. `nameOf` returns the text that identifies a record. */
async function assertWhole(path: string, nameOf: (number: string) => string): Promise<void> {
  const bodies: string[] = [];
  // Ignore other lists on the page: the tree, the neighbours, and recent changes.
  const others = /<(nav class="(?:tree|neighbours)"|section class="changed")[\s\S]*?<\/(?:nav|section)>/g;
  for await (const body of follow(path)) bodies.push(body.replace(others, ''));
  assert.ok(bodies.length > 1, 'the list has parts');
  for (const number of numbers) {
    const name = nameOf(number);
    const times = bodies.filter((body) => body.includes(name)).length;
    assert.equal(times, 1, `${name} is in ${times} parts of ${path}`);
  }
}

/** Copies the row of a table that `where` finds, with a new id and changed columns for each copy. */
async function copy(table: string, id: string, where: ReturnType<typeof sql>, patch: (number: string) => object) {
  const rows = numbers.map((number) => ({ [id]: newId(id.replace('_id', '') as never), ...patch(number) }));
  const columns = await world.db.query<{ names: string }>(sql`
    select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} and is_generated = 'NEVER'`);
  const names = raw(columns[0]?.names ?? '');
  await world.db.query(sql`
    insert into ${raw(table)} (${names})
    select ${names} from (
      select (jsonb_populate_record(null::${raw(table)}, to_jsonb(t) || patch)).*
      from (select * from ${raw(table)} t where ${where} limit 1) t, jsonb_array_elements(${JSON.stringify(rows)}::jsonb) patch
    ) copies`);
}

longTest('the trash is shown completely', async () => {
  for (const number of numbers) {
    const { page_id } = await create(`Thrown away ${number}.`);
    await owner.send('DELETE', `${api}/pages/${page_id}`);
  }
  await assertWhole(`${wiki}/-/trash`, (number) => `Thrown away ${number}.`);
});

longTest('the pages at the root and the backlinks of a page are shown completely', async () => {
  await create('Linked');
  for (const number of numbers) await create(`At the root ${number}.`, { markdown: '[[Linked]]' });
  await assertWhole(wiki, (number) => `At the root ${number}.`);
  await assertWhole(`${wiki}/linked`, (number) => `At the root ${number}.`);
});

test('search results are shown completely', async () => {
  for (const number of numbers) await create(`Found ${number}.`, { markdown: 'needle' });
  // Ranks change while the index is merged.
  while ((await mergePending(world.db, owner.wiki_id, 'page', 'wait')) > 0);
  await assertWhole(`${wiki}/-/search?query=needle`, (number) => `Found ${number}.</a>`);
});

test('the files of an upload, the sources and the uploads are shown completely', async () => {
  const files = Object.fromEntries(numbers.map((number) => [`file ${number}.md`, `# File ${number}`]));
  const { body: upload } = await world.upload(owner, owner.wiki_id, files);
  // A part has 500 files.
  for (const turn of [1, 2, 3])
    await copy('upload_files', 'file_id', sql`t.upload_id = ${upload.upload_id} and t.file_no < ${MANY}`, (number) => ({
      file_no: turn * 1_000 + Number(number),
      filename: `copy ${turn}-${number}.md`,
      name_key: null,
    }));
  await assertWhole(`${wiki}/-/uploads/${upload.upload_id}`, (number) => `file ${number}.md`);
  await assertWhole(`${wiki}/-/sources`, (number) => `file ${number}.md`);
  const idOf = (number: string) => `${upload.upload_id.slice(0, -3)}${number}`;
  await copy('uploads', 'upload_id', sql`t.wiki_id = ${owner.wiki_id}`, (number) => ({ upload_id: idOf(number) }));
  await assertWhole(`${wiki}/-/uploads`, (number) => `/-/uploads/${idOf(number)}"`);
});

longTest('sessions, keys and the audit log are shown completely', async () => {
  await copy('sessions', 'session_id', sql`t.user_id = ${owner.user_id}`, (number) => ({
    user_agent: `Browser ${number}.`,
    access_hash: `\\x0${number}`,
  }));
  await assertWhole('/me', (number) => `Browser ${number}.</strong>`);
  for (const number of numbers) await owner.post('/v1/me/api-keys', { name: `Key ${number}.` });
  await assertWhole('/me/keys', (number) => `<strong>Key ${number}.`);
  const keys = `/v1/workspaces/${owner.workspace_id}/api-keys`;
  for (const number of numbers) await owner.post(keys, { name: `Program ${number}.` });
  await assertWhole(`${workspace}/-/keys`, (number) => `<strong>Program ${number}.`);
  await assertWhole(`${workspace}/-/audit?type=api_key.created`, (number) => `Program ${number}.`);
});

test('the members of a large workspace are shown completely, and ownership can be transferred from each part', async () => {
  const people = numbers.map((number) => ({
    user_id: newId('user'),
    membership_id: newId('mem'),
    email: `colleague-${number}@example.com`,
  }));
  const rows = sql`jsonb_to_recordset(${JSON.stringify(people)}::jsonb) p (user_id text, membership_id text, email text)`;
  await world.db.query(
    sql`insert into users (user_id, email, display_name) select p.user_id, p.email, p.email from ${rows}`,
  );
  await world.db.query(sql`
    insert into memberships (membership_id, workspace_id, user_id, role)
    select p.membership_id, ${owner.workspace_id}, p.user_id, 'member' from ${rows}`);
  await assertWhole(`${workspace}/-/members`, (number) => `<strong>colleague-${number}@example.com</strong>`);
  for await (const body of follow(`${workspace}/-/members`)) {
    assert.equal(body.match(/<strong>colleague-/g)?.length, body.match(/<option value="mem_[^>]*>colleague-/g)?.length);
    assert.match(body, /131 people/);
  }
});

test("a cursor that the API refuses is refused with the API's error", async () => {
  const headers = { accept: 'text/html', cookie: `ibid=${session.browser_secret}` };
  for (const part of ['limit=0', 'limit=x', 'offset=-1']) {
    const address = `${wiki}/-/trash?${new URLSearchParams({ part })}`;
    const { status } = await world.anonymous.send('GET', address, { headers });
    assert.ok(status >= 400 && status < 500, `${address}: ${status}`);
  }
});
