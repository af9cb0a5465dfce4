import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ended, exported, newWiki, send, zipped } from '../../../../test/archives.ts';
import { longTest } from '../../../../test/extent.ts';
import { heldServices } from '../../../../test/held-services.ts';
import { runScheduled } from '../../../../test/jobs.ts';
import { until } from '../../../../test/until.ts';
import { makeDatabase, type Owner, openWorld } from '../../../../test/world.ts';
import { deleteUnreferencedBlobs } from '../../../platform/blobs/delete-unreferenced-blobs.job.ts';
import { sql } from '../../../platform/db/sql.ts';
import { removeStagedRowsOfEnded } from './remove-staged-rows.job.ts';

/** Makes the file store block when an import stores its attachments, until the test opens it. */
let gate: { reached: number; open: () => void; opened: Promise<void> } | undefined;
function closeGate(t: { after(step: () => void): void }) {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = { reached: 0, open: resolve, opened: promise };
  t.after(resolve);
  return gate;
}

// The fewest connections that a service can have while one is held.
const world = await openWorld(
  { DATABASE_URL: await makeDatabase(), DATABASE_CONNECTIONS: '2' },
  {
    jobServices: (services) =>
      heldServices(services, async (name) => {
        if (name !== 'blobs.receive' || !gate) return;
        gate.reached += 1;
        await gate.opened;
      }),
  },
);
const { query } = world.db;

/** A folder of notes. Its pages are staged by the time its attachment is stored. */
const notes = () =>
  zipped([
    ['one.md', '# One\n\n[two](two.md) ![plan](plan.bin)\n'],
    ['two.md', '# Two\n\n[one](one.md)\n'],
    ['plan.bin', randomBytes(100)],
  ]);

const reached = (gate: { reached: number }) =>
  until(
    'an import waits for the store',
    () => gate.reached,
    (count) => count > 0,
  );

async function started(owner: Owner, zip: Buffer): Promise<{ wiki_id: string; job_id: string }> {
  const wiki_id = await newWiki(owner);
  const { status, body } = await send(owner, wiki_id, zip);
  assert.equal(status, 201, JSON.stringify(body));
  return { wiki_id, job_id: body.job_id };
}

async function stagedRows(): Promise<Record<string, number>> {
  const [row] = await query<Record<string, number>>(sql`
    select (select count(*)::int from staged_imports) as imports, (select count(*)::int from import_pages) as pages,
      (select count(*)::int from import_revisions) as revisions, (select count(*)::int from import_attachments) as attachments`);
  return row ?? {};
}
const NONE = { imports: 0, pages: 0, revisions: 0, attachments: 0 };
const isNone = (rows: Record<string, number>) => Object.values(rows).every((count) => count === 0);

const pagesOf = (wiki_id: string) =>
  query<{ path: string }>(sql`select path from pages where wiki_id = ${wiki_id} order by path`);

longTest(
  'an import that waits for the store holds no transaction, shows nothing, and blocks no other request',
  async (t) => {
    const [owner, other] = [await world.owner(), await world.owner()];
    const held = closeGate(t);
    const imports = [await started(owner, await notes()), await started(other, await notes())];
    // Only one job runs if the process has a single slot.
    await reached(held);
    const open = () =>
      query(sql`
      select query from pg_stat_activity
      where datname = current_database() and xact_start < now() - interval '0.2 s' and pid <> pg_backend_pid()
        and backend_type = 'client backend'`);
    await until('no transaction is open', open, ({ length }) => length === 0);
    assert.deepEqual((await stagedRows()).pages, 2);
    for (const { wiki_id } of imports) assert.deepEqual(await pagesOf(wiki_id), []);
    for (const each of [owner, other]) {
      const made = await each.post(`/v1/wikis/${each.wiki_id}/pages`, { title: 'Meanwhile', markdown: 'text' });
      assert.equal(made.status, 201);
      assert.equal((await each.get(`/v1/wikis/${each.wiki_id}/pages/search?query=text`)).status, 200);
    }
    held.open();
    for (const [i, { wiki_id, job_id }] of imports.entries()) {
      const job = await ended(i === 0 ? owner : other, wiki_id, job_id);
      assert.deepEqual([job.status, job.summary], ['completed', '2 new pages, 1 attachments.'], JSON.stringify(job));
      assert.deepEqual(
        (await pagesOf(wiki_id)).map(({ path }) => path),
        ['one', 'two'],
      );
    }
    assert.deepEqual(await until('nothing is staged', stagedRows, isNone), NONE);
  },
);

test('a cancelled import leaves no staged rows, no pages and no unreferenced file', async (t) => {
  const owner = await world.owner();
  const held = closeGate(t);
  const { wiki_id, job_id } = await started(owner, await notes());
  await reached(held);
  const cancelled = await owner.post(`/v1/wikis/${wiki_id}/jobs/${job_id}/cancel`);
  assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
  held.open();
  assert.deepEqual(await until('nothing is staged', stagedRows, isNone), NONE);
  assert.deepEqual(await pagesOf(wiki_id), []);
  const unreferenced = sql`
    select sha256 from blobs b where not exists (select from blob_references r where r.sha256 = b.sha256)`;
  const unused = () =>
    world.db.transaction(async (read, runScript) => {
      await runScript('set local ibid.service to on');
      return read(unreferenced);
    });
  assert.equal((await unused()).length, 1, 'the attachment was stored already');
  await query(sql`update blobs set kept_at = now() - interval '2 days'`);
  await runScheduled(world, deleteUnreferencedBlobs);
  assert.deepEqual(await unused(), []);
});

test('staged rows of an import that was cancelled while no process ran it are removed', async () => {
  const owner = await world.owner();
  const { wiki_id, job_id } = await started(owner, await notes());
  await ended(owner, wiki_id, job_id);
  await until('nothing is staged', stagedRows, isNone);
  // Simulate a process that was killed.
  await query(sql`insert into staged_imports (wiki_id, import_id) values (${wiki_id}, ${job_id})`);
  await query(sql`
    insert into import_attachments
    select wiki_id, ${job_id}, attachment_id, page_id, filename, content_type, byte_size, sha256, created_at, created_by
    from attachments where wiki_id = ${wiki_id}`);
  assert.equal((await stagedRows()).attachments, 1);
  await runScheduled(world, removeStagedRowsOfEnded);
  assert.deepEqual(await stagedRows(), NONE);
});

test('an import whose staged rows are lost in a database crash starts over and creates everything once', async (t) => {
  const owner = await world.owner();
  const held = closeGate(t);
  const { wiki_id, job_id } = await started(owner, await notes());
  await reached(held);
  await query(sql`delete from staged_imports`);
  held.open();
  const job = await ended(owner, wiki_id, job_id);
  assert.equal(job.status, 'completed', JSON.stringify(job));
  const [row] = await query<{ attempt: number }>(sql`select attempt from jobs where job_id = ${job_id}`);
  assert.equal(row?.attempt, 2);
  assert.equal((await pagesOf(wiki_id)).length, 2);
});

test('a page that a user creates during an import keeps its path, and the imported page gets another one', async (t) => {
  const owner = await world.owner();
  const held = closeGate(t);
  const { wiki_id, job_id } = await started(owner, await notes());
  await reached(held);
  const made = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'One', slug: 'one', markdown: 'mine' });
  assert.equal(made.status, 201, 'an import that prepares this path does not keep people waiting');
  held.open();
  const job = await ended(owner, wiki_id, job_id);
  assert.equal(job.status, 'completed', JSON.stringify(job));
  assert.deepEqual(
    (await pagesOf(wiki_id)).map(({ path }) => path),
    ['one', 'one-2', 'two'],
  );
  assert.equal((await owner.get(`/v1/wikis/${wiki_id}/pages/path/one`)).body.markdown, 'mine');
});

test('a page that a user creates during the import of a wiki archive fails the import, which leaves no rows', async (t) => {
  const owner = await world.owner();
  const from = await newWiki(owner);
  const { body: page } = await owner.post(`/v1/wikis/${from}/pages`, { title: 'Old', markdown: 'old' });
  const form = new FormData();
  form.append('file', new Blob(['attached']), 'note.txt');
  await owner.send('POST', `/v1/wikis/${from}/pages/${page.page_id}/attachments`, { body: form });
  const archive = await exported(world, owner, from);
  const held = closeGate(t);
  const { wiki_id, job_id } = await started(owner, archive);
  await reached(held);
  const made = await owner.post(`/v1/wikis/${wiki_id}/pages`, { title: 'Mine', markdown: 'mine' });
  assert.equal(made.status, 201);
  held.open();
  const job = await ended(owner, wiki_id, job_id);
  assert.match(job.error, /^conflict: The wiki already has pages/);
  assert.deepEqual(await pagesOf(wiki_id), [{ path: 'mine' }]);
  assert.deepEqual(await until('nothing is staged', stagedRows, isNone), NONE);
});
