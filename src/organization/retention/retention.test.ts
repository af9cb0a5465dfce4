import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScheduled } from '../../../test/jobs.ts';
import { nextOf } from '../../../test/list-all.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import type { Owner } from '../../../test/world.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { purgeTrash } from '../../wiki/pages/trash/purge-trash.job.ts';
import { purgeRevisions } from '../../wiki/revisions/purge-revisions.job.ts';
import { removeDeletedWiki } from '../../wiki/wikis/trash/remove-deleted-wiki.job.ts';
import { purgeAuditEvents } from '../audit/purge-audit-events.job.ts';

const world = await sharedWorld();
const { db } = world;

const at = ({ workspace_id }: Owner, rest = 'retention') => `/v1/workspaces/${workspace_id}/${rest}`;
const DEFAULTS = { trash_days: null, revision_days: null, audit_days: null, purges_after: '', legal_hold: null };

/** Sets the retention periods and skips the day during which a change can be reverted. */
async function keep(owner: Owner, times: Record<string, number | null>): Promise<void> {
  assert.equal((await owner.patch(at(owner), times)).status, 200);
  await dayLater(owner);
}

async function dayLater({ workspace_id }: Owner): Promise<void> {
  await db.query(sql`
    update workspaces set retention_changed_at = retention_changed_at - interval '1 day 1 second' where workspace_id = ${workspace_id}`);
}

async function held(owner: Owner, reason = 'Acme v. Example'): Promise<void> {
  assert.equal((await owner.post(at(owner, 'legal-hold'), { reason })).status, 200);
}

const lift = (owner: Owner) => owner.post(at(owner, 'legal-hold/lift'), { reason: 'Settled' });
const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function written(owner: Owner, revisions = 1, title = 'Page') {
  const pages = `/v1/wikis/${owner.wiki_id}/pages`;
  const { body } = await owner.post(pages, { title, markdown: 'Text 1.' });
  const page = { page_id: body.page_id as string, at: `${pages}/${body.page_id}` };
  for (let i = 2; i <= revisions; i += 1) await edit(owner, page, i - 1, `Text ${i}.`);
  return page;
}

type Page = Awaited<ReturnType<typeof written>>;

async function edit(owner: Owner, page: { at: string }, base_revision: number, markdown: string): Promise<void> {
  const edited = await owner.patch(page.at, { markdown, base_revision });
  assert.equal(edited.status, 200, JSON.stringify(edited.body));
}

/** Returns the numbers of the remaining revisions. */
const numbers = async (owner: Owner, page: { at: string }) =>
  (await owner.get(`${page.at}/revisions`)).body.map(({ revision }: { revision: number }) => revision);

async function age(table: 'revisions' | 'pages' | 'audit_events', days: number, where: ReturnType<typeof sql>) {
  const column = raw(table === 'pages' ? 'trashed_at' : 'created_at');
  await db.query(sql`update ${raw(table)} set ${column} = ${column} - make_interval(days => ${days}) where ${where}`);
}

const eventsOf = async (owner: Owner, type: string) =>
  (await owner.get(`${at(owner, 'audit-events')}?type=${type}`)).body;

test('by default a workspace keeps everything, and the audit log has each change of the settings', async () => {
  const owner = await world.owner();
  assert.deepEqual((await owner.get(at(owner))).body, { workspace_id: owner.workspace_id, ...DEFAULTS });
  const changed = await owner.patch(at(owner), { trash_days: 60, audit_days: 365 });
  assert.deepEqual(
    { ...changed.body, purges_after: '' },
    { ...DEFAULTS, workspace_id: owner.workspace_id, trash_days: 60, audit_days: 365 },
  );
  assert.notEqual(changed.body.purges_after, '');
  assert.equal((await owner.patch(at(owner), { trash_days: null })).body.trash_days, null);
  const events = await eventsOf(owner, 'workspace.retention_changed');
  assert.deepEqual(
    events.map(({ changes }: { changes: unknown }) => changes),
    [
      { before: { trash_days: '', audit_days: '' }, after: { trash_days: 60, audit_days: 365 } },
      { before: { trash_days: 60 }, after: { trash_days: '' } },
    ],
  );
});

test('a retention period is a number of days within its bounds, and a refused change has no effect', async () => {
  const owner = await world.owner();
  const short = [{ trash_days: 6 }, { revision_days: 29 }, { audit_days: 89 }, { trash_days: 30, audit_days: 1 }];
  for (const body of short) assert.equal((await owner.patch(at(owner), body)).status, 400, JSON.stringify(body));
  const bad = [{ trash_days: 0 }, { trash_days: 3651 }, { trash_days: 7.5 }, { trash_days: '7' }, { audit_days: 1e30 }];
  for (const body of bad) assert.equal((await owner.patch(at(owner), body)).status, 422, JSON.stringify(body));
  assert.deepEqual((await owner.get(at(owner))).body, { workspace_id: owner.workspace_id, ...DEFAULTS });
});

test('only owners set and lift a legal hold, with a reason that is logged', async () => {
  const owner = await world.owner();
  const admin = await world.member(owner.workspace_id, 'admin');
  const stranger = await world.owner();
  for (const other of [admin, stranger, await world.member(owner.workspace_id, 'member')]) {
    assert.equal((await other.post(at(owner, 'legal-hold'), { reason: 'x' })).status, 403);
    assert.equal((await other.post(at(owner, 'legal-hold/lift'), { reason: 'x' })).status, 403);
  }
  assert.deepEqual((await lift(owner)).body, { workspace_id: owner.workspace_id, ...DEFAULTS }, 'there is none');
  for (const reason of ['', '   ', 'x'.repeat(1_001)]) {
    assert.equal((await owner.post(at(owner, 'legal-hold'), { reason })).status, 400);
  }
  await held(owner);
  const { legal_hold } = (await admin.get(at(owner))).body;
  assert.deepEqual(
    { ...legal_hold, held_since: '' },
    { reason: 'Acme v. Example', held_by: owner.user_id, held_since: '' },
  );
  await held(owner, 'Acme v. Example, extended');
  const again = (await owner.get(at(owner))).body.legal_hold;
  assert.deepEqual([again.held_since, again.reason], [legal_hold.held_since, 'Acme v. Example, extended']);
  const lifted = await lift(owner);
  assert.equal(lifted.body.legal_hold, null);
  assert.notEqual(lifted.body.purges_after, '', 'what it saved is not deleted at once');
  const [lifting, ...others] = await eventsOf(owner, 'workspace.legal_hold_lifted');
  assert.equal(others.length, 0);
  assert.deepEqual(
    [lifting.changes.before.hold_reason, lifting.changes.after.lift_reason],
    ['Acme v. Example, extended', 'Settled'],
  );
  assert.equal((await eventsOf(owner, 'workspace.legal_hold_set')).length, 2);
});

test('a hold lifted by concurrent requests is lifted once, and all responses say so', async () => {
  const owner = await world.owner();
  for (let round = 1; round <= 5; round += 1) {
    assert.equal((await owner.post(at(owner, 'legal-hold'), { reason: 'Case' })).status, 200);
    const answers = await Promise.all(Array.from({ length: 8 }, () => lift(owner)));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.legal_hold]),
      answers.map(() => [200, null]),
    );
    assert.equal((await eventsOf(owner, 'workspace.legal_hold_lifted')).length, round);
  }
});

test('the trash is purged after the configured days, not earlier, and not within a day of a change', async () => {
  const [short, long, usual] = [await world.owner(), await world.owner(), await world.owner()];
  await keep(short, { trash_days: 7 });
  await keep(long, { trash_days: 90 });
  const pages = await Promise.all([short, long, usual].map(async (owner) => ({ owner, page: await written(owner) })));
  for (const { owner, page } of pages) {
    assert.equal((await owner.send('DELETE', page.at)).status, 204);
    await age('pages', 29, sql`page_id = ${page.page_id}`);
  }
  const left = async () =>
    Promise.all(pages.map(async ({ owner }) => (await owner.get(`/v1/wikis/${owner.wiki_id}/trash`)).body.length));
  await db.query(sql`update workspaces set retention_changed_at = now() where workspace_id = ${short.workspace_id}`);
  await runScheduled(world, purgeTrash);
  assert.deepEqual(await left(), [1, 1, 1], 'the shorter time was set a moment ago');
  const [trashed] = (await short.get(`/v1/wikis/${short.wiki_id}/trash`)).body;
  assert.equal(trashed.purge_at, (await short.get(at(short))).body.purges_after);
  await dayLater(short);
  await runScheduled(world, purgeTrash);
  assert.deepEqual(await left(), [0, 1, 1]);
  await age('pages', 2, sql`wiki_id in (${long.wiki_id}, ${usual.wiki_id}) and trashed_at is not null`);
  await runScheduled(world, purgeTrash);
  assert.deepEqual(await left(), [0, 1, 0], 'after 30 days where nothing is set');
});

test('replaced revisions are purged when old enough, but never the current one, the base of a draft or the last of an upload', async () => {
  const owner = await world.owner();
  await keep(owner, { revision_days: 30 });
  const other = await world.owner();
  const [page, kept, single] = [await written(owner, 5), await written(other, 5), await written(owner, 1, 'Single')];
  await world.upload(owner, owner.wiki_id, { 'up.md': '# Up\n\nfrom a file\n' });
  const uploaded = (await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/up`)).body;
  const up = { at: `/v1/wikis/${owner.wiki_id}/pages/${uploaded.page_id}` };
  for (const base of [1, 2]) await edit(owner, up, base, `mine, after ${base}`);
  const draft = `/v1/wikis/${owner.wiki_id}/autosaves/${'d'.repeat(22)}`;
  const saved = await owner.send(
    'PUT',
    draft,
    json({ page_id: page.page_id, title: 'Page', markdown: 'Draft', base_revision: 2 }),
  );
  assert.ok(saved.status < 300, JSON.stringify(saved.body));
  await age('revisions', 400, sql`wiki_id in (${owner.wiki_id}, ${other.wiki_id}) and revision < 5`);
  const bytes = async () =>
    (await owner.get(at(owner, 'usage'))).body.find(({ name }: { name: string }) => name === 'bytes').used;
  const before = await bytes();
  await runScheduled(world, purgeRevisions);
  assert.deepEqual(await numbers(owner, page), [2, 4, 5], 'the fourth was replaced today, however old it is');
  assert.deepEqual(await numbers(owner, single), [1]);
  assert.deepEqual(await numbers(owner, up), [1, 3], 'the next upload is merged with the first');
  assert.deepEqual(await numbers(other, kept), [1, 2, 3, 4, 5], 'another workspace keeps its own');
  assert.ok((await bytes()) < before, 'they no longer count as stored');
  const [event] = await eventsOf(owner, 'wiki.revisions_purged');
  assert.deepEqual([event.actor_id, event.changes.before], ['', { revisions: 3 }]);

  const newest = await owner.get(`${page.at}/revisions?order=newest&limit=2`);
  assert.deepEqual(
    newest.body.map(({ revision }: { revision: number }) => revision),
    [5, 4],
  );
  const rest = await owner.get(nextOf(newest.headers.get('link')) ?? '');
  assert.deepEqual(
    rest.body.map(({ revision }: { revision: number }) => revision),
    [2],
  );
  assert.equal((await owner.get(`${page.at}/revisions/3`)).status, 404);
  assert.equal((await owner.post(`${page.at}/revisions/2/restore`, {})).body.markdown, 'Text 2.');
});

test('a purge completes for a page with more old revisions than a batch, and for more pages than a batch', async () => {
  const owner = await world.owner();
  await keep(owner, { revision_days: 30 });
  const page = await written(owner, 2);
  const many = await Promise.all([1, 2, 3].map((i) => written(owner, 3, `Many ${i}`)));
  await age('revisions', 100, sql`wiki_id = ${owner.wiki_id} and revision < 3`);
  await db.query(sql`update pages set revision = 9 where page_id = ${page.page_id}`);
  await db.query(sql`
    insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by, created_at)
    select wiki_id, page_id, n, title, markdown, html, outline, created_by, now() - interval '90 days' from revisions, generate_series(3, 9) n
    where page_id = ${page.page_id} and revision = 2`);
  let from: string | null = '';
  const calls: number[] = [];
  for (; from !== null && calls.length < 50; ) {
    const [batch]: { removed: number; next_page: string | null }[] = await db.query(
      sql`select * from purge_revisions(${owner.wiki_id}, ${from}, 2)`,
    );
    calls.push(batch?.removed ?? -1);
    from = batch?.next_page ?? null;
  }
  assert.ok(calls.every((removed) => removed >= 0 && removed <= 2) && calls.length < 50, String(calls));
  assert.deepEqual(await numbers(owner, page), [9]);
  for (const each of many) assert.deepEqual(await numbers(owner, each), [2, 3]);
});

test('a daily run reads only revisions that became old since the last run, and a monthly one reads all pages', async () => {
  const owner = await world.owner();
  await keep(owner, { revision_days: 30 });
  const pages = await Promise.all([1, 2, 3, 4].map((i) => written(owner, 3, `Daily ${i}`)));
  const [first, second, drafted, old] = pages as [Page, Page, Page, Page];
  const of = (page: Page) => sql`wiki_id = ${owner.wiki_id} and page_id = ${page.page_id}`;
  await age('revisions', 100, of(first));
  const draft = { page_id: drafted.page_id, title: 'Draft', markdown: 'Draft', base_revision: 1 };
  const at = `/v1/wikis/${owner.wiki_id}/autosaves/${'e'.repeat(22)}`;
  assert.ok((await owner.send('PUT', at, json(draft))).status < 300);
  await runScheduled(world, purgeRevisions);
  assert.deepEqual(await numbers(owner, first), [3]);
  assert.deepEqual(await numbers(owner, second), [1, 2, 3]);

  // A day passes. The previous run covered revisions replaced up to 31 days ago; these were replaced in the next 24
  // hours.
  await db.query(sql`
    update wikis set revisions_purged_to = revisions_purged_to - interval '1 day' where wiki_id = ${owner.wiki_id}`);
  for (const page of [second, drafted]) await age('revisions', 30, of(page));
  await age('revisions', 100, of(old));
  const [{ looked_at } = { looked_at: -1 }] = await db.query<{ looked_at: number }>(sql`
    select looked_at from purge_replaced_revisions(${owner.wiki_id}, null, null, null, 500)`);
  assert.equal(looked_at, 4, 'two revisions of each of two pages');
  await runScheduled(world, purgeRevisions);
  assert.deepEqual(await numbers(owner, second), [3]);
  assert.deepEqual(await numbers(owner, drafted), [1, 3], 'the draft was begun on the first');
  assert.deepEqual(await numbers(owner, old), [1, 2, 3], 'older than what the last run ended with');

  await owner.send('DELETE', at);
  await db.query(sql`
    update wikis set revisions_walked_at = revisions_walked_at - interval '31 days' where wiki_id = ${owner.wiki_id}`);
  await runScheduled(world, purgeRevisions);
  for (const page of [drafted, old]) assert.deepEqual(await numbers(owner, page), [3]);
});

test('revisions replaced at the same time are purged in batches, too', async () => {
  const owner = await world.owner();
  await keep(owner, { revision_days: 30 });
  const pages = await Promise.all([1, 2, 3].map((i) => written(owner, 4, `Same ${i}`)));
  await runScheduled(world, purgeRevisions);
  await db.query(sql`
    update wikis set revisions_purged_to = revisions_purged_to - interval '100 days' where wiki_id = ${owner.wiki_id}`);
  await db.query(sql`
    update revisions set created_at = now() - interval '90 days' where wiki_id = ${owner.wiki_id} and revision < 4`);
  let after = [null, null, null] as (string | number | null)[];
  const calls: number[] = [];
  do {
    const [batch] = await db.query<{ removed: number; after: (string | number | null)[] }>(sql`
      select removed, json_build_array(after_time::text, after_page, after_revision) as after from purge_replaced_revisions(
        ${owner.wiki_id}, ${after[0]}::timestamptz, ${after[1]}::text, ${after[2]}::int, 2)`);
    calls.push(batch?.removed ?? -1);
    after = batch?.after ?? [null, null, null];
  } while (after[0] !== null && calls.length < 30);
  assert.ok(calls.every((removed) => removed >= 0 && removed <= 2) && calls.length < 30, String(calls));
  for (const page of pages) assert.deepEqual(await numbers(owner, page), [3, 4], 'the third was replaced today');
});

test('audit records are purged after the configured days, except records of retention settings and holds', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  for (const each of [owner, other]) {
    await written(each);
    await held(each);
    await lift(each);
  }
  await keep(owner, { audit_days: 90 });
  const { page_id } = await written(owner, 1, 'New');
  const events = async (of: Owner) => (await of.get(`${at(of, 'audit-events')}?limit=500`)).body;
  const all = (await events(other)).length;
  await age(
    'audit_events',
    91,
    sql`workspace_id in (${owner.workspace_id}, ${other.workspace_id}) and target_id is distinct from ${page_id}`,
  );
  await runScheduled(world, purgeAuditEvents);
  assert.deepEqual(
    (await events(owner)).map(({ type }: { type: string }) => type),
    [
      'workspace.legal_hold_set',
      'workspace.legal_hold_lifted',
      'workspace.retention_changed',
      'page.created',
      'workspace.audit_events_purged',
    ],
  );
  assert.equal((await events(other)).length, all, 'another workspace keeps its own');
});

test('under a legal hold no caller and no job deletes anything for good; after it is lifted they do', async () => {
  const owner = await world.owner();
  await keep(owner, { trash_days: 7, revision_days: 30, audit_days: 90 });
  const [page, trashed] = [await written(owner, 3), await written(owner, 1, 'Trashed')];
  const { body: second } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Second' });
  await owner.post(`/v1/wikis/${second.wiki_id}/pages`, { title: 'In the second', markdown: 'x' });
  const { body: gone } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Gone' });
  await owner.post(`/v1/wikis/${gone.wiki_id}/pages`, { title: 'In the deleted one', markdown: 'x' });
  const upload = await world.upload(owner, owner.wiki_id, { 'a.md': '# A\n\ntext\n' });
  assert.equal(upload.status, 200);
  const [source] = (await owner.get(`/v1/wikis/${owner.wiki_id}/sources`)).body;
  const file = new FormData();
  file.append('file', new Blob(['bytes']), 'file.bin');
  const attachment = await owner.send('POST', `${page.at}/attachments`, { body: file });
  assert.ok(attachment.status < 300);
  await owner.send('DELETE', trashed.at);
  await age('pages', 40, sql`page_id = ${trashed.page_id}`);
  await age('revisions', 100, sql`page_id = ${page.page_id}`);
  await age('audit_events', 100, sql`workspace_id = ${owner.workspace_id}`);
  await held(owner);
  // Simulates a wiki that was deleted before the hold and whose content is not removed yet.
  await db.query(sql`alter table wikis disable trigger legal_hold_of_workspace`);
  await db.query(
    sql`update wikis set deleted_from = workspace_id, workspace_id = null where wiki_id = ${gone.wiki_id}`,
  );
  await db.query(sql`alter table wikis enable trigger legal_hold_of_workspace`);

  const events = async () => (await owner.get(`${at(owner, 'audit-events')}?limit=500`)).body.length;
  const count = await events();
  const deletions = [
    `/v1/wikis/${second.wiki_id}`,
    `/v1/wikis/${owner.wiki_id}/sources/${source.source_id}`,
    `/v1/wikis/${owner.wiki_id}/attachments/${attachment.body.attachment_id}`,
  ];
  for (const path of deletions) {
    const refused = await owner.send('DELETE', path);
    assert.deepEqual([refused.status, refused.body.error], [409, 'legal_hold'], path);
  }
  for (const job of [purgeTrash, purgeRevisions, purgeAuditEvents, removeDeletedWiki]) await runScheduled(world, job);
  assert.equal(await events(), count);
  assert.deepEqual(await numbers(owner, page), [1, 2, 3]);
  const [there] = (await owner.get(`/v1/wikis/${owner.wiki_id}/trash`)).body;
  assert.deepEqual([there.page_id, there.purge_at], [trashed.page_id, '']);
  const pagesOf = async (wiki_id: string) => (await db.query(sql`select from pages where wiki_id = ${wiki_id}`)).length;
  assert.equal(await pagesOf(gone.wiki_id), 1);
  // The database refuses deletions by an earlier release, a bug or an operator.
  for (const deletion of [
    sql`delete from pages where wiki_id = ${owner.wiki_id}`,
    sql`delete from wikis where wiki_id = ${second.wiki_id}`,
    sql`delete from workspaces where workspace_id = ${owner.workspace_id}`,
  ]) {
    await assert.rejects(db.query(deletion), { code: 'IBHLD' });
  }
  await edit(owner, page, 3, 'Still written.');

  assert.equal((await lift(owner)).status, 200);
  await runScheduled(world, removeDeletedWiki);
  assert.equal(await pagesOf(gone.wiki_id), 0);
  await runScheduled(world, purgeTrash);
  assert.equal((await owner.get(`/v1/wikis/${owner.wiki_id}/trash`)).body.length, 1, 'a day passes first');
  await dayLater(owner);
  for (const job of [purgeTrash, purgeRevisions]) await runScheduled(world, job);
  assert.equal((await owner.get(`/v1/wikis/${owner.wiki_id}/trash`)).body.length, 0);
  assert.deepEqual(await numbers(owner, page), [3, 4]);
  assert.equal((await owner.send('DELETE', `/v1/wikis/${second.wiki_id}`)).status, 204);
});

test('if a hold and a deletion race, either the wiki is deleted before the hold is confirmed, or it stays', async () => {
  const owner = await world.owner();
  for (let round = 0; round < 8; round += 1) {
    const { body: wiki } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: `Round ${round}` });
    const deletion = owner.send('DELETE', `/v1/wikis/${wiki.wiki_id}`);
    await held(owner);
    const { status: atHold } = await owner.get(`/v1/wikis/${wiki.wiki_id}`);
    const { status } = await deletion;
    assert.ok(status === 204 || status === 409, String(status));
    const { status: now } = await owner.get(`/v1/wikis/${wiki.wiki_id}`);
    assert.deepEqual([atHold, now], status === 204 ? [404, 404] : [200, 200]);
    await lift(owner);
  }
});
