import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import type { JobServices } from '../src/platform/jobs/define-job.ts';
import { ended, exported, unzipped } from './archives.ts';
import { must } from './compared-wikis.ts';
import { beforeCompiling, heldServices } from './held-services.ts';
import { png } from './pictures.ts';
import { lift, putAccess, restrict, revoke } from './restrict.ts';
import { type Client, openWorld, waitForUpload } from './world.ts';
import { zipOf } from './zip.ts';

/** What happens before a file is compiled, by its name. */
const before = new Map<string, () => Promise<unknown>>();
/** What happens before a job gets the answer of a service, by the name of the call. */
const answering = new Map<string, () => Promise<unknown>>();
const compiling = beforeCompiling(async (filename) => {
  await before.get(filename)?.();
});
const jobServices = (services: JobServices) =>
  heldServices(compiling(services), async (name) => {
    await answering.get(name)?.();
  });
const world = await openWorld({}, { jobServices });
const owner = await world.owner();
const { workspace_id } = owner;
const granted = await world.member(workspace_id, 'member');
const member = await world.member(workspace_id, 'member');

interface PageIds {
  wiki_id: string;
  page_id: string;
}

let wikis = 0;

/** Makes a wiki with a page `vault` that only `granted` sees, and manages. */
async function newWiki() {
  const slug = `wiki-${(wikis += 1)}`;
  const { wiki_id } = await must(await owner.post(`/v1/workspaces/${workspace_id}/wikis`, { title: slug, slug }));
  const api = `/v1/wikis/${wiki_id}`;
  const { page_id } = await must(await owner.post(`${api}/pages`, { title: 'Vault', markdown: 'x' }));
  await restrict(world.db, { wiki_id, page_id }, { [granted.user_id]: 'manage' });
  const upload = async (client: Client, files: Record<string, string | Uint8Array>) =>
    must(await world.upload(client, wiki_id, files));
  const sources = async (client: Client): Promise<{ source_id: string; filename: string }[]> =>
    must(await client.get(`${api}/sources?limit=100`));
  const names = async (client: Client) => (await sources(client)).map(({ filename }) => filename).sort();
  const paths = async (client: Client): Promise<string[]> =>
    (await must(await client.get(`${api}/pages?limit=100`))).map(({ path }: { path: string }) => path).sort();
  return { wiki_id, api, vault: page_id as string, upload, sources, names, paths };
}

const BYTES = '# Same\n\nThe same bytes.\n';

test('a file uploaded below a restricted page is a source for those who see the page, and its upload too', async () => {
  const { api, upload, sources, names } = await newWiki();
  const made = await upload(granted, { 'vault/plan.md': '# Plan\n\nSecret.\n' });
  const [source] = await sources(granted);
  assert.equal(source?.filename, 'vault/plan.md');
  assert.deepEqual(await names(member), []);
  const [job] = await must(await granted.get(`${api}/jobs?upload_id=${made.upload_id}`));
  for (const path of [
    ...['', '/text', '/content', '/coverage', '/verification'].map((part) => `sources/${source?.source_id}${part}`),
    `uploads/${made.upload_id}`,
    `uploads/${made.upload_id}/files`,
    `jobs/${job.job_id}`,
    `jobs/${job.job_id}/events`,
  ]) {
    assert.equal((await member.get(`${api}/${path}`)).status, 404, path);
    if (!path.endsWith('/events')) assert.equal((await granted.get(`${api}/${path}`)).status, 200, path);
  }
  assert.equal((await member.send('DELETE', `${api}/sources/${source?.source_id}`)).status, 404);
  assert.deepEqual((await member.get(`${api}/uploads`)).body, []);
  assert.deepEqual((await member.get(`${api}/jobs`)).body, []);
});

test('the same bytes in a restricted and in an open page are two sources, whichever came first', async () => {
  const { upload, sources, names } = await newWiki();
  await upload(granted, { 'vault/first.md': BYTES });
  const own = await upload(member, { 'open.md': BYTES });
  assert.equal(own.summary, '1 file: 1 new source, 1 new page.');
  assert.deepEqual(await names(member), ['open.md']);
  assert.deepEqual(await names(granted), ['open.md', 'vault/first.md']);
  await upload(granted, { 'vault/second.md': BYTES });
  assert.deepEqual(await names(granted), ['open.md', 'vault/first.md'], 'one source for each restriction');
  const ids = async () => (await sources(granted)).map(({ source_id }) => source_id);
  const first = await ids();
  const again = await upload(member, { 'open-too.md': BYTES });
  assert.equal(again.summary, '1 file: 0 new sources, 1 file already known (same bytes), 1 new page.');
  assert.deepEqual(await ids(), first);
});

test('a source of two pages becomes two when one of them is restricted, each with the name of its own file', async () => {
  const { wiki_id, api, upload, sources, names, paths } = await newWiki();
  await upload(owner, { 'closed/salaries.md': BYTES });
  await upload(owner, { 'open/notes.md': BYTES });
  assert.deepEqual(await names(member), ['closed/salaries.md']);
  const { page_id } = await must(await owner.get(`${api}/pages/path/closed`));
  await restrict(world.db, { wiki_id, page_id }, { [granted.user_id]: 'manage' });
  assert.deepEqual(await names(member), ['open/notes.md']);
  assert.deepEqual(await names(granted), ['closed/salaries.md', 'open/notes.md']);
  for (const [path, client] of [
    ['open/notes', member],
    ['closed/salaries', granted],
  ] as const) {
    const page = await must(await client.get(`${api}/pages/path/${path}`));
    const citations = await must(await client.get(`${api}/pages/${page.page_id}/citations`));
    assert.ok(citations.length > 0 && citations.every(({ verified }: { verified: boolean }) => verified), path);
    assert.equal(citations[0].filename, `${path}.md`);
    const report = await must(await client.get(`${api}/sources/${citations[0].source_id}/verification`));
    assert.deepEqual(report.findings, [], path);
  }
  const hits = await must(await member.get(`${api}/sources/search?query=bytes`));
  assert.deepEqual(
    hits.map(({ filename }: { filename: string }) => filename),
    ['open/notes.md'],
  );
  await lift(world.db, { wiki_id, page_id });
  assert.deepEqual(await names(member), ['closed/salaries.md', 'open/notes.md'], 'none is lost when it is lifted');
  assert.equal((await sources(member)).length, 2);
  assert.deepEqual(await paths(member), ['closed', 'closed/salaries', 'open', 'open/notes']);
});

test('earlier files of a page are hidden with it, and deleting the page for good deletes them', async () => {
  const { wiki_id, api, upload, names } = await newWiki();
  await upload(owner, { 'area/plan.md': '# Plan\n\nFirst.\n' });
  await upload(owner, { 'area/plan.md': '# Plan\n\nSecond.\n' });
  assert.equal((await names(member)).length, 2);
  const { page_id } = await must(await owner.get(`${api}/pages/path/area`));
  await restrict(world.db, { wiki_id, page_id }, { [owner.user_id]: 'manage' });
  assert.deepEqual(await names(member), []);
  assert.equal((await owner.send('DELETE', `${api}/pages/${page_id}`)).status, 204);
  assert.equal((await names(owner)).length, 2);
  await world.db.query(sql`
    delete from pages where wiki_id = ${wiki_id} and (page_id = ${page_id} or parent_page_id = ${page_id})`);
  const [left] = await world.db.query<{ count: number }>(sql`
    select count(*)::int as count from sources where wiki_id = ${wiki_id}`);
  assert.equal(left?.count, 0);
});

test('a section of a divided file that is restricted closes the source of the whole file', async () => {
  const { wiki_id, api, upload, names } = await newWiki();
  const chapter = (n: number) => `# Chapter ${n}\n\n${`Sentence of chapter ${n}. `.repeat(3_000)}\n\n`;
  const book = `${chapter(1)}${chapter(2)}${chapter(3)}${chapter(4)}`;
  await upload(owner, { 'book.md': book });
  const pages = await must(await owner.get(`${api}/pages?limit=100`));
  const section = pages.find(({ path }: { path: string }) => /^book\/.*2$/.test(path));
  assert.ok(section, 'the file must be long enough to be divided');
  await restrict(world.db, { wiki_id, page_id: section.page_id }, { [granted.user_id]: 'manage' });
  assert.deepEqual(await names(member), []);
  assert.deepEqual(await names(granted), ['book.md']);
  await upload(granted, { 'book.md': `${book}\nOne more sentence.\n` });
  assert.deepEqual(await names(member), [], 'nor does the next version of the file show it');
  assert.equal((await names(granted)).length, 2);
});

test('a folder whose path a hidden page has gets the next path, and links between its files still lead to each other', async () => {
  const { api, upload } = await newWiki();
  const { summary } = await upload(member, {
    'vault/a.md': '# A\n\nSee [b](b.md) and [c](../c.md).\n',
    'vault/b.md': '# B\n\nSee [a](a.md).\n',
    'c.md': '# C\n\nSee [a](vault/a.md).\n',
  });
  assert.doesNotMatch(summary, /fail|Vault/);
  const { markdown } = await must(await member.get(`${api}/pages/path/c`));
  assert.match(markdown, /\(vault-2\/a\)/);
  for (const path of ['vault-2/a', 'vault-2/b']) await must(await member.get(`${api}/pages/path/${path}`));
  assert.deepEqual(await must(await member.get(`${api}/broken-links`)), []);
});

for (const [end, close] of [
  ['the page is restricted', (wiki_id: string, page_id: string) => restrict(world.db, { wiki_id, page_id }, {})],
  [
    'the right of the person who uploads ends',
    (wiki_id: string, page_id: string) => revoke(world.db, { wiki_id, page_id }, granted.user_id),
  ],
] as const) {
  test(`an upload writes nothing more once ${end}, and names no path`, async () => {
    const { wiki_id, api, vault, upload, paths } = await newWiki();
    const { page_id } = end.startsWith('the right')
      ? { page_id: vault }
      : await must(await owner.post(`${api}/pages`, { title: 'Area', markdown: 'x' }));
    const folder = page_id === vault ? 'vault' : 'area';
    const names = ['one', 'two'].map((name) => `${folder}/${wiki_id}-${name}.md`);
    await upload(granted, { [names[1] ?? '']: '# Two\n\nBefore.\n' });
    let closing: Promise<unknown> | undefined;
    for (const name of names) before.set(name, () => (closing ??= close(wiki_id, page_id)));
    const form = new FormData();
    for (const name of names) form.append('files', new Blob(['# Secret\n\nWords.\n']), name);
    const made = await must(await granted.send('POST', `${api}/uploads`, { body: form }));
    const ended = await must(await waitForUpload(granted, wiki_id, made.upload_id));
    assert.equal(ended.status, 'failed');
    const files = await must(await granted.get(`${api}/uploads/${made.upload_id}/files`));
    for (const file of files) {
      assert.match(file.error, /^forbidden: /);
      assert.equal(file.page_path, '');
    }
    assert.deepEqual(
      (await paths(owner)).filter((path) => /secret|one|two/i.test(path)),
      [],
    );
    const [page] = await world.db.query<{ revision: number }>(sql`
      select revision from pages where wiki_id = ${wiki_id} and title = 'Two'`);
    assert.equal(page?.revision, 1);
  });
}

/** Follows a job, and returns the time until its stream ends, counted from `end`. */
async function followed(client: Client, path: string, end: () => Promise<unknown>): Promise<number> {
  const response = await fetch(`${world.address}${path}`, { headers: { authorization: `Bearer ${client.token}` } });
  const reader = response.body?.getReader() ?? assert.fail('a stream has a body');
  await reader.read();
  await end();
  const began = performance.now();
  while (!(await reader.read()).done);
  return performance.now() - began;
}

test('a stream of a job ends within three seconds for a reader whose grant ends or whose page is restricted', async () => {
  for (const isRestricted of [false, true]) {
    const { wiki_id, api, vault } = await newWiki();
    const reader = await world.member(workspace_id, 'member');
    const ids = { wiki_id, page_id: vault };
    if (isRestricted) await lift(world.db, ids);
    else await must(await putAccess(granted, ids, { [granted.user_id]: 'manage', [reader.user_id]: 'read' }));
    const held = Promise.withResolvers<void>();
    const name = `vault/${wiki_id}.md`;
    before.set(name, () => held.promise);
    const form = new FormData();
    form.append('files', new Blob(['# Held\n']), name);
    const { upload_id } = await must(await granted.send('POST', `${api}/uploads`, { body: form }));
    const [job] = await must(await granted.get(`${api}/jobs?upload_id=${upload_id}`));
    const close = () => putAccess(granted, ids, { [granted.user_id]: 'manage' });
    const took = await followed(reader, `${api}/jobs/${job.job_id}/events`, close);
    held.resolve();
    assert.ok(took < 3_000, `the stream ended after ${took} ms`);
    assert.equal((await waitForUpload(granted, wiki_id, upload_id)).body.status, 'completed');
  }
});

for (const [change, undo, end] of [
  ['becomes a viewer', 'member', (at: string) => owner.patch(at, { role: 'viewer' })],
  ['is deactivated', 'active', (at: string) => owner.post(`${at}/deactivate`)],
] as const) {
  test(`an upload writes nothing more once the person who started it ${change}`, async () => {
    const { wiki_id, api, paths } = await newWiki();
    const person = await world.member(workspace_id, 'member');
    const names = ['one', 'two'].map((name) => `${wiki_id}-${undo}-${name}.md`);
    let ending: Promise<unknown> | undefined;
    const membership = `/v1/workspaces/${workspace_id}/members/${person.membership_id}`;
    for (const name of names) before.set(name, () => (ending ??= end(membership).then(must)));
    const form = new FormData();
    for (const name of names) form.append('files', new Blob(['# Late\n']), name);
    const { upload_id } = await must(await person.send('POST', `${api}/uploads`, { body: form }));
    const { body: ended } = await waitForUpload(owner, wiki_id, upload_id);
    assert.deepEqual([ended.status, ended.error.split(':')[0]], ['failed', 'forbidden']);
    assert.deepEqual(await paths(owner), []);
  });
}

test('an export is for its maker, has the pages that they see, and says so in its manifest', async () => {
  const { wiki_id, api, paths } = await newWiki();
  await must(await owner.post(`${api}/pages`, { title: 'Open', markdown: 'Common.' }));
  assert.deepEqual(await paths(granted), ['open', 'vault']);
  const jobs: string[] = [];
  for (const [client, pages] of [
    [granted, 2],
    [member, 1],
  ] as const) {
    const files = await unzipped(await exported(world, client, wiki_id));
    const manifest = JSON.parse(String(files.get('ibid.json')));
    assert.deepEqual([manifest.pages, manifest.seen_by], [pages, client.user_id]);
    const [job] = await must(await client.get(`${api}/jobs?order=newest`));
    jobs.push(job.job_id);
  }
  for (const other of [owner, member]) {
    assert.equal((await other.get(`${api}/exports/${jobs[0]}/content`)).status, 404);
    assert.equal((await other.get(`${api}/jobs/${jobs[0]}`)).status, 404);
  }
});

for (const [end, close] of [
  [
    'a grant of its maker ends',
    (ids: PageIds) => putAccess(granted, ids, { [owner.user_id]: 'manage', [granted.user_id]: 'manage' }),
  ],
  [
    'a page is restricted',
    async ({ wiki_id }: PageIds) => {
      const { body } = await granted.get(`/v1/wikis/${wiki_id}/pages/path/open`);
      return putAccess(granted, { wiki_id, page_id: body.page_id }, {});
    },
  ],
] as const) {
  test(`an export fails if ${end} before it is finished`, async () => {
    const { wiki_id, api, vault } = await newWiki();
    const ids = { wiki_id, page_id: vault };
    await must(await owner.post(`${api}/pages`, { title: 'Open', markdown: 'Common.' }));
    const levels = { [granted.user_id]: 'manage', [member.user_id]: 'read' } as const;
    await must(await putAccess(granted, ids, levels));
    answering.set('blobs.receive', async () => {
      answering.clear();
      await must(await close(ids));
    });
    const { job_id } = await must(await member.post(`${api}/exports`));
    const job = await ended(member, wiki_id, job_id);
    assert.deepEqual([job.status, job.error.split(':')[0]], ['failed', 'forbidden']);
    assert.equal((await member.get(`${api}/exports/${job_id}/content`)).status, 404);
  });
}

test('a file for a page that the uploader may only read fails, and changes nothing', async () => {
  const { wiki_id, api, vault, upload } = await newWiki();
  const reader = await world.member(workspace_id, 'member');
  await upload(granted, { 'vault/plan.md': '# Plan\n\nFirst.\n' });
  await world.db.query(sql`
    insert into page_grants (wiki_id, acl_no, user_id, level, granted_by)
    select wiki_id, acl_no, ${reader.user_id}, 'read', ${reader.user_id} from page_acls
    where wiki_id = ${wiki_id} and page_id = ${vault}`);
  const made = await must(
    await world.upload(reader, wiki_id, { 'vault/plan.md': '# Plan\n\nSecond.\n', 'vault/new.md': '# New\n' }),
  );
  assert.equal(made.status, 'failed');
  const files = await must(await reader.get(`${api}/uploads/${made.upload_id}/files`));
  assert.deepEqual(
    files.map(({ error }: { error: string }) => error.split(':')[0]),
    ['forbidden', 'forbidden'],
  );
  const page = await must(await granted.get(`${api}/pages/path/vault/plan`));
  assert.deepEqual([page.revision, page.markdown.trim()], [1, '# Plan\n\nFirst.']);
  const [source] = await must(await reader.get(`${api}/sources`));
  assert.equal((await reader.send('DELETE', `${api}/sources/${source.source_id}`)).status, 403);
});

test('an upload that has not ended shows to others no names that its creator may write where they cannot look', async () => {
  const { api } = await newWiki();
  const announce = async (client: Client) =>
    (await must(await client.post(`${api}/uploads`, { files: [{ filename: 'vault/secret-name.md', byte_size: 5 }] })))
      .upload;
  const [hidden, open] = [await announce(granted), await announce(member)];
  const listed = async (client: Client) =>
    (await must(await client.get(`${api}/uploads`))).map(({ upload_id }: { upload_id: string }) => upload_id);
  assert.deepEqual(await listed(owner), [open.upload_id]);
  assert.deepEqual(await listed(granted), [hidden.upload_id, open.upload_id]);
  assert.equal((await owner.post(`${api}/uploads/${hidden.upload_id}/cancel`)).status, 404);
  assert.equal((await granted.post(`${api}/uploads/${hidden.upload_id}/cancel`)).status, 200);
  assert.deepEqual(await listed(owner), [open.upload_id]);
});

test('an imported folder goes around hidden pages, and below no page that may only be read', async () => {
  const { wiki_id, api, vault, paths } = await newWiki();
  const reader = await world.member(workspace_id, 'member');
  await world.db.query(sql`
    insert into page_grants (wiki_id, acl_no, user_id, level, granted_by)
    select wiki_id, acl_no, ${reader.user_id}, 'read', ${reader.user_id} from page_acls
    where wiki_id = ${wiki_id} and page_id = ${vault}`);
  const archive = zipOf([
    ['vault/a.md', '# A\n\nSee [b](b.md).\n'],
    ['vault/b.md', '# B\n'],
    ['c.md', '# C\n'],
  ]);
  const imported = async (client: Client) => {
    const form = new FormData();
    form.set('file', new Blob([archive as Uint8Array<ArrayBuffer>]), 'folder.zip');
    const { job_id } = await must(await client.send('POST', `${api}/imports`, { body: form }));
    for (;;) {
      const job = await must(await client.get(`${api}/jobs/${job_id}`));
      if (job.finished_at) return job;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const job = await imported(member);
  assert.deepEqual([job.status, job.error], ['completed', '']);
  assert.deepEqual(await paths(member), ['c', 'vault-2', 'vault-2/a', 'vault-2/b']);
  assert.deepEqual(await must(await member.get(`${api}/broken-links`)), []);
  const refused = await imported(reader);
  assert.deepEqual([refused.status, refused.error.split(':')[0]], ['failed', 'forbidden']);
  assert.equal((await owner.get(`${api}/jobs/${job.job_id}`)).status, 404, 'jobs of others are theirs');
});

test('the audit log names no files of uploads, which may be for restricted pages', async () => {
  const { upload } = await newWiki();
  const { summary } = await upload(granted, {
    'vault/secret-plan.exe': 'MZ\0',
    'vault/plan.md': '[x](secret-notes.md)\n',
  });
  assert.match(summary, /secret-plan\.exe.*secret-notes\.md/);
  const events = await must(await owner.get(`/v1/workspaces/${workspace_id}/audit-events?order=newest&limit=20`));
  assert.equal(events[0].type, 'upload.completed');
  assert.doesNotMatch(JSON.stringify(events), /secret-/);
});

test('titles of restricted pages become no links in documents for other readers', async () => {
  const { api, vault, upload } = await newWiki();
  const page = { title: 'Quixotic merger', slug: 'code-name', markdown: 'x', parent_page_id: vault };
  await must(await granted.post(`${api}/pages`, page));
  await upload(granted, {
    'notes.txt': 'See Quixotic merger and Xylograph area.',
    'vault/x1.txt': 'Xylograph area\n\nText.',
  });
  const { markdown } = await must(await member.get(`${api}/pages/path/notes`));
  assert.equal(markdown.trim(), 'See Quixotic merger and Xylograph area.');
});

test('files that became no pages do not show their names to others, unless a file of their folder is open', async () => {
  const { api, upload } = await newWiki();
  const sees = async ({ upload_id }: { upload_id: string }) =>
    (await member.get(`${api}/uploads/${upload_id}/files`)).status === 200;
  assert.equal(await sees(await upload(granted, { 'vault/secret.exe': 'MZ\0', 'open/a.md': '# A\n' })), false);
  assert.equal(await sees(await upload(granted, { 'open/tool.exe': 'MZ\0', 'open/b.md': '# B\n' })), true);
  assert.equal(await sees(await upload(granted, { 'tool.exe': 'MZ\0', 'open/c.md': '# C\n' })), true);
});

test('an upload that ended early, or goes on, stays hidden from others when the grant of its creator ends', async () => {
  const { wiki_id, api, vault } = await newWiki();
  const announce = async () => {
    const files = [{ filename: 'vault/secret-name.md', byte_size: 5 }];
    return (await must(await granted.post(`${api}/uploads`, { files }))).upload.upload_id as string;
  };
  const [open, cancelled] = [await announce(), await announce()];
  await must(await granted.post(`${api}/uploads/${cancelled}/cancel`));
  await revoke(world.db, { wiki_id, page_id: vault }, granted.user_id);
  for (const id of [open, cancelled]) assert.equal((await member.get(`${api}/uploads/${id}/files`)).status, 404);
  await lift(world.db, { wiki_id, page_id: vault });
  for (const id of [open, cancelled]) assert.equal((await member.get(`${api}/uploads/${id}/files`)).status, 200);
});

test('who may only read where an upload writes cannot cancel it', async () => {
  const { wiki_id, api, vault } = await newWiki();
  const reader = await world.member(workspace_id, 'member');
  await must(
    await putAccess(granted, { wiki_id, page_id: vault }, { [granted.user_id]: 'manage', [reader.user_id]: 'read' }),
  );
  const { upload } = await must(
    await granted.post(`${api}/uploads`, { files: [{ filename: 'vault/plan.md', byte_size: 5 }] }),
  );
  assert.equal((await reader.post(`${api}/uploads/${upload.upload_id}/cancel`)).status, 403);
  assert.equal((await granted.post(`${api}/uploads/${upload.upload_id}/cancel`)).status, 200);
});

test('a picture of a hidden page gets into no open page whose file only has its name', async () => {
  const { api, upload } = await newWiki();
  const picture = png() as Uint8Array<ArrayBuffer>;
  const attached = async (path: string) => {
    const { page_id } = await must(await granted.get(`${api}/pages/path/${path}`));
    return (await must(await granted.get(`${api}/pages/${page_id}/attachments`))).length;
  };
  await upload(granted, { 'vault/deep/plan.png': picture, 'vault/deep/first.md': '![p](plan.png)\n' });
  await upload(granted, { 'open.md': '# Open\n\n![[plan.png]]\n' });
  await upload(granted, { 'vault/deep/second.md': '# Second\n\n![p](plan.png)\n' });
  assert.deepEqual([await attached('open'), await attached('vault/deep/second')], [0, 1]);
});

test('the source of an open page does not keep the name of a hidden page that had the same bytes before', async () => {
  const { wiki_id, api, upload, names } = await newWiki();
  await upload(owner, { 'area/salaries.md': BYTES });
  await upload(owner, { 'open.md': BYTES });
  await upload(owner, { 'area/salaries.md': '# Other\n' });
  const { page_id } = await must(await owner.get(`${api}/pages/path/area`));
  await restrict(world.db, { wiki_id, page_id }, { [granted.user_id]: 'manage' });
  assert.deepEqual(await names(member), ['open.md']);
});
