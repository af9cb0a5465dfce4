import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { ended, exported, imported, newWiki, send as sendArchive } from '../../../test/archives.ts';
import { extent } from '../../../test/extent.ts';
import { deleteForGood, runScheduled } from '../../../test/jobs.ts';
import { counted, usageBy } from '../../../test/quotas.ts';
import { randomNumbers } from '../../../test/random-numbers.ts';
import { announce, patch } from '../../../test/resumable.ts';
import { until } from '../../../test/until.ts';
import { type Owner, openWorld, waitForUpload } from '../../../test/world.ts';
import { zipOf } from '../../../test/zip.ts';
import { sql } from '../../platform/db/sql.ts';
import { deleteExpiredExports } from '../../sources/transfer/export/delete-expired-exports.job.ts';
import { expireUploads } from '../../sources/uploads/expire-uploads.job.ts';
import { purgeTrash } from '../../wiki/pages/trash/purge-trash.job.ts';
import { mergeUsage } from './merge-usage.job.ts';
import { recountUsage } from './recount-usage.job.ts';

/** USAGE_STEPS sets the number of random writes; USAGE_SEED repeats an earlier run. */
const STEPS = Number(process.env.USAGE_STEPS || extent(60, 20));
const SEED = Number(process.env.USAGE_SEED || Date.now() % 1_000_000);

const lines: string[] = [];
const world = await openWorld(
  {},
  { log: pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }) },
);
const { db } = world;

/** Recounts all workspaces, as on the next day. */
async function recountAll(): Promise<void> {
  await runScheduled(world, mergeUsage);
  await db.query(sql`update workspace_usage set counted_at = now() - interval '2 days'`);
  await runScheduled(world, recountUsage);
}

async function assertCounted(workspace_id: string, after: string): Promise<void> {
  const { kept, actual } = await counted(db, workspace_id);
  assert.deepEqual(kept, actual, `after ${after}, with seed ${SEED}`);
}

function attach(owner: Owner, wiki_id: string, page_id: string, content: string) {
  const body = new FormData();
  body.append('file', new Blob([content]), 'note.txt');
  return owner.send('POST', `/v1/wikis/${wiki_id}/pages/${page_id}/attachments`, { body });
}

test('counted usage equals actual usage after any mix of writes', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const random = randomNumbers(SEED);
  const owner = await world.owner();
  const { workspace_id } = owner;
  const wikis = [owner.wiki_id];
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const wiki = () => one(wikis) as string;
  const text = () => `# Title\n\n${'Some *words*. '.repeat(Math.floor(random() * 50))}\n`;
  const listed = async (path: string): Promise<Record<string, string>[]> => (await owner.get(path)).body;
  const page = async (in_wiki: string) => one(await listed(`/v1/wikis/${in_wiki}/pages?limit=500`))?.page_id;
  let number = 0;
  const writes: Record<string, () => Promise<unknown>> = {
    'a page': () => owner.post(`/v1/wikis/${wiki()}/pages`, { title: `Page ${number++}`, markdown: text() }),
    async 'an edit'() {
      const at = wiki();
      const page_id = await page(at);
      const { body } = await owner.get(`/v1/wikis/${at}/pages/${page_id}`);
      await owner.patch(`/v1/wikis/${at}/pages/${page_id}`, { markdown: text(), base_revision: body.revision });
    },
    async 'the trash'() {
      const at = wiki();
      await owner.send('DELETE', `/v1/wikis/${at}/pages/${await page(at)}`);
    },
    async 'a restored page'() {
      const at = wiki();
      const trashed = one(await listed(`/v1/wikis/${at}/trash`));
      await owner.post(`/v1/wikis/${at}/pages/${trashed?.page_id}/restore`);
    },
    async 'a purge'() {
      await db.query(sql`update pages set trashed_at = trashed_at - interval '40 days' where trashed_at is not null`);
      await runScheduled(world, purgeTrash);
    },
    'an upload': () =>
      world.upload(owner, wiki(), {
        [`a/${number++}.md`]: text(),
        'same.md': '# Same\n',
        'broken.pdf': '%PDF-1.4 broken',
        'packed.zip': zipOf([
          ['in/x.md', text()],
          ['in/y.bin', new Uint8Array([0, 1, 2])],
        ]),
      }),
    'a useless upload': () => world.upload(owner, wiki(), { [`${number++}.bin`]: new Uint8Array([0, 255, 1, 254]) }),
    async 'a cancelled upload'() {
      const at = wiki();
      const { path, files } = await announce(owner, at, { 'x.md': Buffer.from('# X\n'), 'y.md': Buffer.from(text()) });
      if (random() < 0.5 && files[0]) await patch(owner, files[0].path, 0, files[0].content);
      await owner.post(`${path}/cancel`);
    },
    async 'a resumed upload'() {
      const at = wiki();
      const { path, upload_id, files } = await announce(owner, at, { 'resumed.md': Buffer.from(text()) });
      for (const file of files) await patch(owner, file.path, 0, file.content);
      await owner.post(`${path}/complete`);
      await waitForUpload(owner, at, upload_id);
    },
    async 'an expired upload'() {
      await announce(owner, wiki(), { 'late.md': Buffer.from(text()) });
      await db.query(sql`
        update uploads set updated_at = now() - interval '2 days' where status = 'uploading'`);
      await db.query(sql`update uploads set finished_at = now() - interval '8 days' where status = 'failed'`);
      await runScheduled(world, expireUploads);
    },
    async 'a deleted source'() {
      const at = wiki();
      const source = one(await listed(`/v1/wikis/${at}/sources`));
      await owner.send('DELETE', `/v1/wikis/${at}/sources/${source?.source_id}`);
    },
    async 'an attachment'() {
      const at = wiki();
      const page_id = await page(at);
      if (page_id) await attach(owner, at, page_id, text());
    },
    async 'a deleted attachment'() {
      const at = wiki();
      const attachment = one(await listed(`/v1/wikis/${at}/pages/${await page(at)}/attachments`));
      await owner.send('DELETE', `/v1/wikis/${at}/attachments/${attachment?.attachment_id}`);
    },
    async 'an export and an import'() {
      const to = await newWiki(owner, `Imported ${number++}`);
      await imported(owner, to, await exported(world, owner, wiki()));
      wikis.push(to);
    },
    'an import that fails': async () => {
      const at = wiki();
      const { body } = await sendArchive(owner, at, zipOf([['no.bin', new Uint8Array([1])]]));
      await ended(owner, at, body.job_id);
    },
    async 'expired archives'() {
      await db.query(sql`update exports set expires_at = now() - interval '1 day'`);
      await db.query(sql`update jobs set finished_at = finished_at - interval '2 hours' where finished_at is not null`);
      await runScheduled(world, deleteExpiredExports);
    },
    async 'a wiki'() {
      wikis.push(await newWiki(owner, `Wiki ${number++}`));
    },
    async 'a deleted wiki'() {
      if (wikis.length < 3) return;
      const wiki_id = wikis.pop() ?? '';
      if (random() < 0.5) return deleteForGood(world, owner, wiki_id);
      await owner.send('DELETE', `/v1/wikis/${wiki_id}`);
      if (random() >= 0.5) return;
      await owner.post(`/v1/workspaces/${workspace_id}/deleted-wikis/${wiki_id}/restore`);
      wikis.push(wiki_id);
    },
    async 'an invitation'() {
      const { body } = await owner.post(`/v1/workspaces/${workspace_id}/members/invite`, {
        email: `${number++}@example.com`,
        role: 'member',
      });
      if (random() < 0.5) await owner.post(`/v1/workspaces/${workspace_id}/invitations/${body.invitation_id}/revoke`);
    },
    async 'a key'() {
      const { body } = await owner.post(`/v1/workspaces/${workspace_id}/api-keys`, { name: 'key' });
      if (random() < 0.5) await owner.send('DELETE', `/v1/workspaces/${workspace_id}/api-keys/${body.key_id}`);
    },
    'merged counts': () => runScheduled(world, mergeUsage),
  };
  const names = Object.keys(writes);
  // Each write once, then random ones.
  for (let step = 0; step < names.length + STEPS; step += 1) {
    const name = names[step] ?? one(names) ?? '';
    await writes[name]?.();
    await assertCounted(workspace_id, `${name} (step ${step})`);
  }
  // A scheduled job may remove content of a deleted wiki between the two reads.
  await until(
    'the API says the same',
    async () => ({ api: await usageBy(owner, workspace_id), ...(await counted(db, workspace_id)) }),
    ({ api, kept }) => isDeepStrictEqual(api, kept),
  );
  await recountAll();
  await assertCounted(workspace_id, 'a recount');
});

test('a deleted wiki counts until its content is removed', async () => {
  const owner = await world.owner();
  const { workspace_id } = owner;
  const before = await usageBy(owner, workspace_id);
  const wiki_id = await newWiki(owner, 'Doomed');
  await world.upload(owner, wiki_id, { 'a.md': '# A\n', 'b.md': '# B\n' });
  const { body: job } = await owner.post(`/v1/wikis/${wiki_id}/exports`);
  await ended(owner, wiki_id, job.job_id);
  const full = await usageBy(owner, workspace_id);
  assert.ok(full.bytes > before.bytes);
  await owner.send('DELETE', `/v1/wikis/${wiki_id}`);
  const deleted = await usageBy(owner, workspace_id);
  assert.deepEqual([deleted.wikis, deleted.bytes, deleted.pages], [before.wikis, full.bytes, full.pages]);
  await owner.post(`/v1/workspaces/${workspace_id}/deleted-wikis/${wiki_id}/restore`);
  assert.deepEqual(await usageBy(owner, workspace_id), full);
  await deleteForGood(world, owner, wiki_id);
  assert.deepEqual(await usageBy(owner, workspace_id), before);
});

test('concurrent writers in a workspace do not block each other when counting', async () => {
  const owner = await world.owner();
  const write = (query: typeof db.query, title: string) =>
    query(sql`
      insert into wikis (wiki_id, workspace_id, slug, title, created_by)
      values (${`wiki_${title}`}, ${owner.workspace_id}, ${title}, ${title}, ${owner.user_id})`);
  // The second transaction commits while the first one is open.
  await db.transaction(async (first) => {
    await write(first, 'first');
    await db.transaction((second) => write(second, 'second'));
  });
  assert.equal((await usageBy(owner, owner.workspace_id)).wikis, 3);
  await assertCounted(owner.workspace_id, 'two transactions at once');
});

test('wrong counts are found, logged and corrected', async () => {
  const owner = await world.owner();
  const right = await usageBy(owner, owner.workspace_id);
  await db.query(sql`
    insert into workspace_usage (workspace_id, transaction_id, bytes, pages) values (${owner.workspace_id}, 0, 5, -7)
    on conflict (workspace_id, transaction_id) do update set bytes = workspace_usage.bytes + 5, pages = workspace_usage.pages - 7`);
  const [found] = await db.query(sql`select correct_usage(${owner.workspace_id}) as drift`);
  assert.deepEqual(found, { drift: { bytes: -5, pages: 7 } });
  assert.deepEqual(await usageBy(owner, owner.workspace_id), right);
  await db.query(
    sql`update workspace_usage set keys = keys + 3 where workspace_id = ${owner.workspace_id} and transaction_id = 0`,
  );
  await recountAll();
  assert.deepEqual(await usageBy(owner, owner.workspace_id), right);
  const line = JSON.parse(lines.find((text) => text.includes(owner.workspace_id)) ?? '{}');
  assert.deepEqual([line.level, line.drift], [50, { keys: -3 }]);
});

test('a count corrected during concurrent writes is right afterwards', async () => {
  const owner = await world.owner();
  let stop = false;
  const recounting = (async () => {
    while (!stop) {
      await db.query(sql`select correct_usage(${owner.workspace_id})`);
      await db.query(sql`select merge_usage(7)`);
    }
  })();
  const pages = Array.from({ length: 40 }, (_, i) => ({ title: `Page ${i}`, markdown: 'text' }));
  await Promise.all(pages.map((page) => owner.post(`/v1/wikis/${owner.wiki_id}/pages`, page)));
  stop = true;
  await recounting;
  assert.equal((await usageBy(owner, owner.workspace_id)).pages, 40);
  await assertCounted(owner.workspace_id, 'corrections and writes at once');
});

test('only members see the usage of their workspace', async () => {
  const [owner, other] = [await world.owner(), await world.owner()];
  const path = `/v1/workspaces/${owner.workspace_id}/usage`;
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.equal((await viewer.get(path)).status, 200);
  assert.equal((await other.get(path)).status, 403);
  assert.equal((await world.anonymous.get(path)).status, 401);
});
