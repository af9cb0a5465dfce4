import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listMigrations, migrate } from '../src/platform/db/migrate.ts';
import { sql } from '../src/platform/db/sql.ts';
import { makeDatabase, openOwner, openWorld } from './world.ts';

/** The schema of a later release that only adds: a column in every table. */
const LATER = {
  name: '999_later.sql',
  text: `-- works with: any
    do $$ declare name text; begin
      for name in select oid::regclass::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
        execute format('alter table %s add column later int default 7', name);
      end loop;
    end $$`,
};

test('this release starts and works on the schema of a later release that only adds to it', async () => {
  const DATABASE_URL = await makeDatabase();
  const db = openOwner(DATABASE_URL);
  assert.deepEqual(await migrate(db, [...listMigrations(), LATER]), [LATER.name]);
  const world = await openWorld({ DATABASE_URL });
  const owner = await world.owner();
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const made = await owner.post(`${wiki}/pages`, { title: 'Plan', markdown: 'We meet on Monday.' });
  assert.equal(made.status, 201);
  const page = `${wiki}/pages/${made.body.page_id}`;
  assert.equal((await owner.patch(page, { base_revision: 1, markdown: 'We meet on Tuesday.' })).status, 200);
  assert.equal((await owner.get(`${page}/revisions`)).body.length, 2);
  const { body: upload } = await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n\nSome zebra.\n' });
  assert.equal(upload.status, 'completed', JSON.stringify(upload));
  const invite = { email: 'colleague@example.com', role: 'member' };
  assert.equal((await owner.post(`/v1/workspaces/${owner.workspace_id}/members/invite`, invite)).status, 200);
  assert.equal((await owner.send('DELETE', page)).status, 204);
  assert.equal((await owner.post(`${page}/restore`)).status, 200);
  assert.ok((await owner.get(`/v1/workspaces/${owner.workspace_id}/audit-events`)).body.length > 3);
  const [row] = await db.query<{ count: number }>(sql`select count(*)::int as count from pages where later = 7`);
  assert.ok((row?.count ?? 0) >= 2, 'rows that this release writes have the default');
});
