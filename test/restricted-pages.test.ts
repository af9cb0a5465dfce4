import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { png } from './pictures.ts';
import { type Ids, nameOf, pathOf, propertiesOf } from './requests.ts';
import { lift, putAccess, restrict } from './restrict.ts';
import { openTenants } from './tenants.ts';
import type { Answer, Client } from './world.ts';

/** Words that occur only in the restricted pages: in a title, a slug, a text, a tag and a file name. */
const SECRETS = /quixotic|quagmire|xylograph|obsidian|zephyr/i;

/** Words, prefixes and misspellings of the secrets, and words of all pages. */
const QUERIES = ['quixotic', 'quixo', 'qiuxotic', 'xylograph', 'xylogarph', 'obsidain', 'guide', 'common', 'comon'];

/** The same bytes in a hidden page and in an open one, uploaded before and after the restriction. */
const TWICE = '# Twice\n\nCommon words of two files.\n';
const AGAIN = '# Again\n\nCommon words, once more.\n';

/** The text of a page that was linked to a page before the page was restricted. */
const EARLY = '[[Plan]] and [it](quagmire/quagmire-plan), common words.';

const tenants = await openTenants();
const { world } = tenants;
const owner = world.as(tenants.owner.token, tenants.owner.user_id);

/** A wiki with the ids of its records by their labels, in the order of their creation. */
interface Filled {
  wiki_id: string;
  api: string;
  ids: Map<string, string>;
}

async function must({ status, body }: Answer): Promise<Answer['body']> {
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
}

const SLUGS = ['one', 'two', 'three'];

/** Makes a wiki, with the pages that will be restricted or without them. */
async function fill(hasSecrets: boolean): Promise<Filled> {
  const { wiki_id } = await must(
    await owner.post(`/v1/workspaces/${tenants.a.workspace_id}/wikis`, {
      title: 'Filled',
      slug: SLUGS.shift(),
    }),
  );
  const api = `/v1/wikis/${wiki_id}`;
  const ids = new Map<string, string>([[wiki_id, 'wiki']]);
  const page = async (title: string, more: object = {}, client: Client = owner) => {
    const made = await must(await client.post(`${api}/pages`, { title, markdown: 'Common words.', ...more }));
    ids.set(made.page_id, title);
    return made.page_id as string;
  };
  const upload = async (label: string, files: Record<string, string>, client: Client = owner) => {
    const { status, upload_id } = await must(await world.upload(client, wiki_id, files));
    assert.equal(status, 'completed');
    const [job] = await must(await client.get(`${api}/jobs?upload_id=${upload_id}`));
    ids.set(upload_id, `upload ${label}`).set(job.job_id, `job ${label}`);
  };
  const guide = await page('Guide', { markdown: '---\ntags: [shared]\n---\n\nCommon words. A guide.' });
  const setup = await page('Setup', { parent_page_id: guide });
  await upload('before', { 'open/twice.md': TWICE });
  await page('Early', { markdown: EARLY });
  if (hasSecrets) {
    const area = await page('Quixotic area', {
      slug: 'quagmire',
      markdown: '---\ntags: [shared, zephyr]\n---\n\nXylograph. Common words. [guide](guide)',
    });
    const plan = await page('Plan', { parent_page_id: area, slug: 'quagmire-plan', markdown: 'Obsidian. [[Guide]]' });
    await must(
      await owner.patch(`${api}/pages/${plan}`, { markdown: 'Obsidian xylograph. [[Guide]]', base_revision: 1 }),
    );
    await must(await owner.send('PUT', `${api}/templates/${plan}`));
    const form = new FormData();
    form.set('file', new Blob([png() as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'zephyr.png');
    await must(await owner.send('POST', `${api}/pages/${plan}/attachments`, { body: form }));
    await upload('hidden', {
      'quagmire/quixotic.md': '# Quixotic\n\nXylograph, common words.\n',
      'quagmire/zephyr-twice.md': TWICE,
    });
    const moved = await page('Cost', { parent_page_id: area, slug: 'quagmire-before' });
    await must(await owner.patch(`${api}/pages/${moved}`, { slug: 'quagmire-after' }));
    await restrict(world.db, { wiki_id, page_id: area }, { [granted.user_id]: 'manage' });
    const below = await page('Quixotic below', { parent_page_id: plan }, granted);
    assert.ok(below);
    const later = { 'quagmire/obsidian.md': '# Obsidian\n\nCommon words.\n', 'quagmire/zephyr-again.md': AGAIN };
    await upload('later', later, granted);
  }
  await upload('after', { 'open/again.md': AGAIN, 'open/report.md': '# Report\n\nCommon words.\n' });
  await page('Links', {
    markdown: '[[Plan]] [[Plan|a plan]] ![[Plan]] [there](quagmire/quagmire-plan) [[Guide]]\n\nCommon words.',
  });
  for (const kind of ['page', 'source'] as const) while ((await mergePending(world.db, wiki_id, kind, 'wait')) > 0);
  assert.ok(setup);
  for (const { page_id, path } of await must(await granted.get(`${api}/pages?limit=100`))) {
    if (!ids.has(page_id)) ids.set(page_id, path);
  }
  for (const { source_id, filename } of await must(await granted.get(`${api}/sources?limit=100`))) {
    ids.set(source_id, `source ${filename}`);
  }
  return { wiki_id, api, ids };
}

const granted = await world.member(tenants.a.workspace_id, 'member');
const one = await fill(true);
const two = await fill(false);

const readers: [string, Client][] = [
  ['an owner without a grant', owner],
  ['a member without a grant', await world.member(tenants.a.workspace_id, 'member')],
  ['a viewer', await world.member(tenants.a.workspace_id, 'viewer')],
];

const LABELS = new Map([...one.ids].map(([id, label]) => [label, id]));
const SECRET_PAGES = ['Quixotic area', 'Plan', 'Cost', 'Quixotic below'];
const WIKI_ENDPOINTS = ENDPOINTS.filter(({ method, access }) => method === 'GET' && access.on === 'wiki');

/** Returns the id of a record by its label; an unknown id if the wiki has no such record. */
function idOf(wiki: Filled, label: string): string {
  for (const [id, other] of wiki.ids) if (other === label) return id;
  return (LABELS.get(label) ?? 'page_').replace(/_.*/, '_01jd8w3v6xf3e8h2k9m4n5p6s1');
}

const PATHS = [
  'guide',
  'guide/setup',
  'links',
  'open/twice',
  'quagmire',
  'quagmire/quagmire-plan',
  'quagmire/quagmire-before',
];

/** Returns the addresses of an endpoint in a wiki, in the same order for each wiki. */
function addressesOf(endpoint: Endpoint, wiki: Filled): string[] {
  const idsOf = (prefix: string) =>
    [...LABELS].flatMap(([label, id]) => (id.startsWith(prefix) ? idOf(wiki, label) : []));
  const pages = idsOf('page_');
  const values: Record<string, string[]> = {
    wiki_id: [wiki.wiki_id],
    page_id: pages,
    source_id: idsOf('source_'),
    upload_id: idsOf('upload_'),
    job_id: idsOf('job_'),
    page_path: PATHS,
    revision: ['1', '2'],
  };
  const fill = (ids: Ids, [name, ...rest]: string[]): Ids[] =>
    name === undefined
      ? [ids]
      : (values[name] ?? [ids[name] ?? '']).flatMap((id) => fill({ ...ids, [name]: id }, rest));
  const names = [...endpoint.path.matchAll(/[:*]([a-z_]+)/g)].map(([, name = '']) => name);
  const query = propertiesOf(endpoint.query);
  return fill(tenants.unknown, names).flatMap((ids) => {
    const path = pathOf(endpoint, ids);
    if ('query' in query) return QUERIES.map((text) => `${path}?query=${text}`);
    const more = 'page_id' in query ? ['', ...pages].map((id) => `${path}?page_id=${id}`) : [];
    const tagged = 'tag' in query ? [`${path}?tag=shared`, `${path}?tag=zephyr`] : [];
    return [path, ...more, ...tagged];
  });
}

/**
 * Replaces what differs between two wikis that are the same: ids, times, the versions of trees, and hashes of these. The
 * lengths of hidden texts are part of the average by which scores are normalized, so scores differ in the second digit.
 */
function masked({ status, body, headers }: Answer, wiki: Filled): string {
  const etag = headers.get('etag')?.replace(/^"(\d+-)?(?:[0-9a-f]{20}|[\w-]{16})"$/, '"$1<hash>"');
  const link = headers.get('link');
  let text = JSON.stringify({ status, etag, link, total: headers.get('x-total-count'), body });
  for (const [id, label] of wiki.ids) text = text.replaceAll(id, `<${label}>`);
  return text
    .replaceAll(/\b(?:page|req|evt|file|att|source|upload|job)_[0-9a-z]{26}\b/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b\d+-\d{16}\b/g, '<version>')
    .replaceAll(/id: [\w-]{16}(?=\\nevent: )/g, 'id: <hash>')
    .replaceAll(/"score":[\d.]+/g, '"score":<score>')
    .replaceAll(/"slug":"(?:one|two)"/g, '"slug":"<wiki>"');
}

for (const [name, client] of readers) {
  for (const endpoint of WIKI_ENDPOINTS) {
    test(`for ${name}, ${nameOf(endpoint)} answers as if restricted pages had never existed`, async () => {
      const others = addressesOf(endpoint, two);
      for (const [i, address] of addressesOf(endpoint, one).entries()) {
        const [answer, other] = [await client.get(address), await client.get(others[i] ?? '')];
        assert.ok(answer.status < 500, address);
        assert.equal(masked(answer, one), masked(other, two), address);
        const shown = JSON.stringify(answer.body).replaceAll('quagmire/quagmire-plan', '');
        if (!SECRETS.test(address)) assert.equal(SECRETS.exec(shown)?.[0], undefined, `${address}: ${shown}`);
      }
    });
  }
}

test('who is granted a restricted page sees it and the pages below, however they came there', async () => {
  for (const title of SECRET_PAGES) {
    const { status, body } = await granted.get(`${one.api}/pages/${idOf(one, title)}`);
    assert.deepEqual([status, body.title], [200, title]);
  }
  const { body: tree } = await granted.get(`${one.api}/tree`);
  assert.ok(SECRET_PAGES.every((title) => tree.some((entry: { title: string }) => entry.title === title)));
  const { body: hits } = await granted.get(`${one.api}/pages/search?query=xylograph`);
  assert.equal(hits.length, 3);
});

test('a grant that ends closes the pages, and a lifted restriction opens them, at the next request', async () => {
  const { wiki_id, api } = one;
  const colleague = await world.member(tenants.a.workspace_id, 'member');
  const top = await must(await owner.post(`${api}/pages`, { title: 'Closing', markdown: 'x' }));
  const ids = { wiki_id, page_id: top.page_id };
  await must(await putAccess(owner, ids, { [colleague.user_id]: 'read' }));
  const statusFor = async (client: Client) => (await client.get(`${api}/pages/${top.page_id}`)).status;
  assert.deepEqual([await statusFor(colleague), await statusFor(owner), await statusFor(granted)], [200, 200, 404]);
  await must(await putAccess(owner, ids, { [owner.user_id]: 'manage' }));
  assert.equal(await statusFor(colleague), 404);
  await must(await owner.send('DELETE', `${api}/pages/${top.page_id}/access`));
  assert.equal(await statusFor(granted), 200);
});

test('a restriction inside another one opens only for those whom both admit', async () => {
  const { wiki_id, api } = one;
  const [inner, both] = [
    await world.member(tenants.a.workspace_id, 'member'),
    await world.member(tenants.a.workspace_id, 'member'),
  ];
  const top = await must(await owner.post(`${api}/pages`, { title: 'Outer', markdown: 'x' }));
  const below = await must(
    await owner.post(`${api}/pages`, { title: 'Inner', markdown: 'x', parent_page_id: top.page_id }),
  );
  await restrict(world.db, { wiki_id, page_id: below.page_id }, { [inner.user_id]: 'read', [both.user_id]: 'read' });
  const statusFor = async (client: Client) => (await client.get(`${api}/pages/${below.page_id}`)).status;
  assert.deepEqual([await statusFor(inner), await statusFor(both)], [200, 200]);
  await restrict(world.db, { wiki_id, page_id: top.page_id }, { [both.user_id]: 'read', [owner.user_id]: 'manage' });
  assert.deepEqual([await statusFor(inner), await statusFor(both), await statusFor(owner)], [404, 200, 404]);
  await lift(world.db, { wiki_id, page_id: top.page_id });
  assert.equal(await statusFor(inner), 200);
});

test('who may only read a restricted page cannot change it, what belongs to it, or its place', async () => {
  const { wiki_id, api } = one;
  const reader = await world.member(tenants.a.workspace_id, 'member');
  const { page_id } = await must(await owner.post(`${api}/pages`, { title: 'Read only', markdown: 'x' }));
  await must(await putAccess(owner, { wiki_id, page_id }, { [reader.user_id]: 'read' }));
  const path = `${api}/pages/${page_id}`;
  assert.equal((await reader.get(path)).status, 200);
  const form = new FormData();
  form.set('file', new Blob([png() as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'zephyr.png');
  const attached = await must(await owner.send('POST', `${path}/attachments`, { body: form }));
  await must(await owner.send('PUT', `${api}/templates/${page_id}`));
  const made = await reader.post(`${api}/templates/${page_id}/pages`, { title: 'From a template' });
  assert.equal(made.status, 201, 'reading a template is enough to use it');
  const tried = [
    await reader.send('DELETE', `${api}/attachments/${attached.attachment_id}`),
    await reader.send('DELETE', `${api}/templates/${page_id}`),
    await reader.patch(path, { markdown: 'y', base_revision: 1 }),
    await reader.patch(path, { parent_page_id: idOf(one, 'Guide') }),
    await reader.send('DELETE', path),
    await reader.send('PUT', `${api}/templates/${page_id}`),
    await reader.post(`${path}/revisions/1/restore`, {}),
  ];
  tried.push(await reader.post(`${api}/pages`, { title: 'Below', markdown: '', parent_page_id: page_id }));
  const own = await must(await reader.post(`${api}/pages`, { title: 'Of the reader', markdown: '' }));
  tried.push(await reader.patch(`${api}/pages/${own.page_id}`, { parent_page_id: page_id }));
  assert.deepEqual([...new Set(tried.map(({ status }) => status))], [403]);
  assert.equal((await owner.get(path)).body.revision, 1);
});

test('a path of a hidden page is taken: 409 offers a free slug, and a slug made from a title is the next free one', async () => {
  const [, member] = readers[1] as [string, Client];
  const chosen = await member.post(`${one.api}/pages`, { title: 'Mine', markdown: '', slug: 'quagmire' });
  assert.deepEqual([chosen.status, chosen.body.error], [409, 'slug_taken']);
  assert.match(chosen.body.message, /"quagmire-2" is free/);
  const made = await member.post(`${one.api}/pages`, { title: 'Quagmire', markdown: '' });
  assert.deepEqual([made.status, made.body.slug], [201, 'quagmire-2']);
  const renamed = await member.patch(`${one.api}/pages/${made.body.page_id}`, { slug: 'quagmire' });
  assert.deepEqual([renamed.status, renamed.body.error], [409, 'slug_taken']);
  assert.match(renamed.body.message, /"quagmire-3" is free/);
  assert.equal((await member.send('DELETE', `${one.api}/pages/${made.body.page_id}`)).status, 204);
});

test('a former path of a hidden page can be taken and left again', async () => {
  const { wiki_id, api } = one;
  const [, member] = readers[1] as [string, Client];
  const { page_id } = await must(await owner.post(`${api}/pages`, { title: 'Wandering', markdown: 'x' }));
  await must(await owner.patch(`${api}/pages/${page_id}`, { slug: 'arrived' }));
  await must(await putAccess(owner, { wiki_id, page_id }, {}));
  assert.equal((await member.get(`${api}/pages/path/wandering`)).status, 404);
  const made = await must(await member.post(`${api}/pages`, { title: 'Mine', markdown: 'x', slug: 'wandering' }));
  await must(await member.patch(`${api}/pages/${made.page_id}`, { slug: 'elsewhere' }));
  assert.equal((await member.get(`${api}/pages/path/wandering`)).body.page_id, made.page_id);
  assert.equal((await member.send('DELETE', `${api}/pages/${made.page_id}`)).status, 204);
});

test('who does not manage a restricted part cannot move, delete or restore the pages around it', async () => {
  const { wiki_id, api } = one;
  const top = await must(await owner.post(`${api}/pages`, { title: 'Around', markdown: 'x' }));
  const part = await must(
    await owner.post(`${api}/pages`, { title: 'Part', markdown: 'x', parent_page_id: top.page_id }),
  );
  await must(await putAccess(owner, { wiki_id, page_id: part.page_id }, {}));
  const [, member] = readers[1] as [string, Client];
  const path = `${api}/pages/${top.page_id}`;
  for (const answer of [
    await member.send('DELETE', path),
    await member.patch(path, { parent_page_id: idOf(one, 'Guide') }),
  ]) {
    assert.deepEqual([answer.status, answer.body.error], [403, 'forbidden']);
    assert.match(answer.body.message, /a restricted part that you do not manage/);
  }
  assert.equal((await owner.patch(path, { parent_page_id: idOf(one, 'Guide') })).status, 200);
  assert.equal((await owner.send('DELETE', path)).status, 204);
  assert.equal((await member.post(`${path}/restore`)).status, 403);
  assert.equal((await owner.post(`${path}/restore`)).status, 200);
  assert.equal((await member.get(`${api}/pages/${part.page_id}`)).status, 404);
});

test('a page moved into a restricted part is hidden there, and seen again when it leaves', async () => {
  const { wiki_id, api } = one;
  const [, member] = readers[1] as [string, Client];
  const top = await must(await owner.post(`${api}/pages`, { title: 'Vault', markdown: 'x' }));
  await must(await putAccess(owner, { wiki_id, page_id: top.page_id }, {}));
  const mover = await must(await owner.post(`${api}/pages`, { title: 'Mover', markdown: 'x' }));
  const child = await must(
    await owner.post(`${api}/pages`, { title: 'Child', markdown: 'x', parent_page_id: mover.page_id }),
  );
  const seen = async () => [
    (await member.get(`${api}/pages/${mover.page_id}`)).status,
    (await member.get(`${api}/pages/${child.page_id}`)).status,
  ];
  assert.deepEqual(await seen(), [200, 200]);
  await must(await owner.patch(`${api}/pages/${mover.page_id}`, { parent_page_id: top.page_id }));
  assert.deepEqual(await seen(), [404, 404]);
  await must(await owner.patch(`${api}/pages/${mover.page_id}`, { parent_page_id: '' }));
  assert.deepEqual(await seen(), [200, 200]);
});

test('hidden pages change the scores of what a caller sees by no more than the average length of the texts', async () => {
  const [, member] = readers[1] as [string, Client];
  const { wiki_id, api } = await fill(true);
  const scores = async () => {
    const { body } = await member.get(`${api}/pages/search?query=common+guide`);
    return body.map(({ score }: { score: number }) => score) as number[];
  };
  const before = await scores();
  assert.equal(before.length, 7);
  const [area] = (await granted.get(`${api}/pages?limit=50`)).body.filter(
    ({ title }: { title: string }) => title === 'Quixotic area',
  );
  for (const title of ['Guide', 'Common', 'A guide', 'Other']) {
    const made = { title, markdown: 'Common guide, common words.', parent_page_id: area.page_id };
    await must(await granted.post(`${api}/pages`, made));
  }
  // With the hidden pages among the documents that have a word, scores would be half as high.
  const assertSame = async (when: string) => {
    const after = await scores();
    const ratios = before.map((score, i) => (after[i] ?? 0) / score);
    assert.ok(
      ratios.length === after.length && ratios.every((ratio) => ratio > 0.9 && ratio < 1.1),
      `${when}: ${ratios}`,
    );
  };
  await assertSame('while they are pending');
  while ((await mergePending(world.db, wiki_id, 'page', 'wait')) > 0);
  await assertSame('once they are indexed');
});
