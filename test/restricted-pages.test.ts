import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { browserCookieName } from '../src/platform/http/browser-cookie.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { ROUTES } from '../web/routes.ts';
import {
  addressesOf,
  type ComparedWiki,
  idOf,
  labelRest,
  maskedScores,
  mergeIndexes,
  must,
  newComparedWiki,
  uploadTo,
  WIKI_ENDPOINTS,
  withoutTimes,
} from './compared-wikis.ts';
import { png } from './pictures.ts';
import { nameOf, PUBLIC_URL, validRequest } from './requests.ts';
import { lift, putAccess, restrict } from './restrict.ts';
import { signedInClient } from './signed-in.ts';
import { openTenants } from './tenants.ts';
import type { Answer, Client } from './world.ts';

/** Words that occur only in the restricted pages: in a title, a slug, a text, a tag and a file name. */
const SECRETS = /quixotic|quagmire|xylograph|obsidian|zephyr/i;

/** Words, prefixes and misspellings of the secrets, and words of all pages. */
const QUERIES = [
  ...['quixotic', 'quixo', 'qiuxotic', 'xylograph', 'xylogarph', 'obsidain', 'guide', 'common', 'comon'],
  ...['path:quagmire', 'in:quagmire', 'tag:zephyr', 'tag:shared', 'title:plan', '-guide common', '"common words"'],
  ...['author:me', 'status:draft', 'type:source common', 'updated:>2020', 'common sort:updated'],
];

/** The same bytes in a hidden page and in an open one, uploaded before and after the restriction. */
const TWICE = '# Twice\n\nCommon words of two files.\n';
const AGAIN = '# Again\n\nCommon words, once more.\n';

/** The text of a page that was linked to a page before the page was restricted. */
const EARLY = '[[Plan]] and [it](quagmire/quagmire-plan), common words.';

const tenants = await openTenants();
const { world } = tenants;
const owner = world.as(tenants.owner.token, tenants.owner.user_id);

/** Makes a wiki, with the pages that will be restricted or without them. */
async function fill(slug: string, hasSecrets: boolean): Promise<ComparedWiki> {
  const wiki = await newComparedWiki(owner, tenants.a.workspace_id, slug);
  const { wiki_id, api, ids } = wiki;
  const page = async (title: string, more: object = {}, client: Client = owner) => {
    const made = await must(await client.post(`${api}/pages`, { title, markdown: 'Common words.', ...more }));
    ids.set(made.page_id, title);
    return made.page_id as string;
  };
  const upload = (label: string, files: Record<string, string>, client: Client = owner) =>
    uploadTo(world, wiki, client, label, files);
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
    await must(await owner.patch(`${api}/settings`, { home_page_id: plan }));
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
  await mergeIndexes(world, wiki);
  assert.ok(setup);
  await labelRest(wiki, granted);
  return wiki;
}

const granted = await world.member(tenants.a.workspace_id, 'member');
const one = await fill('wiki-1', true);
const two = await fill('wiki-2', false);

const readers: [string, Client][] = [
  ['an owner without a grant', owner],
  ['a member without a grant', await world.member(tenants.a.workspace_id, 'member')],
  ['a viewer', await world.member(tenants.a.workspace_id, 'viewer')],
  ['a member whose grant ended a moment ago', await formerReader()],
];

async function formerReader(): Promise<Client> {
  const person = await world.member(tenants.a.workspace_id, 'member');
  const area = { wiki_id: one.wiki_id, page_id: idOf(one, 'Quixotic area') };
  const levels = { [granted.user_id]: 'manage' } as const;
  await must(await putAccess(granted, area, { ...levels, [person.user_id]: 'write' }));
  assert.equal((await person.get(`${one.api}/pages/search/view?query=xylograph`)).body.hits.length, 3);
  assert.equal((await person.get(`${one.api}/tree`)).status, 200);
  await must(await putAccess(granted, area, levels));
  return person;
}

const SECRET_PAGES = ['Quixotic area', 'Plan', 'Cost', 'Quixotic below'];

const PATHS = [
  'guide',
  'guide/setup',
  'links',
  'open/twice',
  'quagmire',
  'quagmire/quagmire-plan',
  'quagmire/quagmire-before',
];

const questions = { queries: QUERIES, paths: PATHS, tags: ['shared', 'zephyr'], unknown: tenants.unknown };

for (const [name, client] of readers) {
  for (const endpoint of WIKI_ENDPOINTS) {
    test(`for ${name}, ${nameOf(endpoint)} answers as if restricted pages had never existed`, async () => {
      for (const [address, inOther] of addressesOf(endpoint, [one, two], questions)) {
        const [answer, other] = [await client.get(address), await client.get(inOther)];
        assert.ok(answer.status < 500, address);
        assert.equal(maskedScores(answer, one), maskedScores(other, two), address);
        const shown = JSON.stringify(answer.body).replaceAll('quagmire/quagmire-plan', '');
        if (!SECRETS.test(address)) assert.equal(SECRETS.exec(shown)?.[0], undefined, `${address}: ${shown}`);
      }
    });
  }
}

/** Opens pages of the web application as a reader. */
async function browserOf({ user_id }: Client): Promise<(path: string) => Promise<Answer>> {
  const { body: session } = await (await signedInClient(world, user_id)).post('/v1/auth/browser');
  const headers = { accept: 'text/html', cookie: `${browserCookieName(PUBLIC_URL)}=${session.browser_secret}` };
  return (path) => world.anonymous.send('GET', path, { headers, redirect: 'manual' });
}

/** Replaces the parts of a page of the web application that differ between two wikis with the same content. */
function maskedHtml({ status, body, headers }: Answer): string {
  return (
    withoutTimes(`${status} ${headers.get('location')} ${body}`)
      .replaceAll(/\b[a-z]+_[0-9a-z]{26}\b/gi, '<id>')
      .replaceAll(/wiki-\d+\b/g, '<wiki>')
      // The menu of wikis.
      .replaceAll(' aria-current="true"', '')
      .replaceAll(/[\d ,:]+(?:second|minute)s? ago|just now/g, '<time>')
      .replaceAll(/"?[\w-]{8}(?:-drafts)?"(?= data-known)/g, '<hash>')
  );
}

for (const [name, client] of readers) {
  test(`for ${name}, pages of the web application look as if restricted pages had never existed`, async () => {
    const open = await browserOf(client);
    const { body: overview } = await client.get('/v1/overview');
    const workspace = overview.session.organizations.find(
      (it: { organization_id: string }) => it.organization_id === tenants.a.workspace_id,
    );
    const idsOf = (prefix: string) => [...one.ids].filter(([id]) => id.startsWith(prefix));
    const rest = [
      ...PATHS.map((path) => [path, path]),
      ...['source_', 'upload_', 'page_'].flatMap((prefix) =>
        idsOf(prefix).map(([id, label]) => [id, idOf(two, label, id)]),
      ),
    ];
    for (const { method, path } of ROUTES) {
      if (method !== 'GET' || !path.startsWith('/:workspace/:wiki')) continue;
      const below = path.slice('/:workspace/:wiki'.length);
      const addresses = /[*:]/.test(below)
        ? rest.map((pair) => pair.map((each) => below.replace(/\*|:\w+/, each)))
        : [[below, below]];
      const asked = QUERIES.map((query) => `${below}?query=${encodeURIComponent(query)}`);
      for (const [here = '', there = ''] of [...addresses, ...asked.map((address) => [address, address])]) {
        const [answer, other] = [
          await open(`/${workspace.slug}/wiki-1${here}`),
          await open(`/${workspace.slug}/wiki-2${there}`),
        ];
        assert.ok(answer.status < 500, here);
        const [lines, others] = [maskedHtml(answer).split('\n'), maskedHtml(other).split('\n')];
        const at = lines.findIndex((line, i) => line !== others[i]);
        assert.equal(lines[at], others[at], here);
        assert.equal(lines.length, others.length, here);
      }
    }
  });

  test(`for ${name}, nothing outside of the wiki names a restricted page`, async () => {
    const others = ENDPOINTS.filter(({ method, access }) => method === 'GET' && access.on !== 'wiki');
    // The export of an account has what its person wrote.
    for (const endpoint of others.filter(({ path }) => !path.startsWith('/v1/me/export'))) {
      const token = await tenants.tokenFor(endpoint, { name, user_id: client.user_id, token: String(client.token) });
      const request = validRequest(endpoint, tenants.a, token);
      const { status, text } = await tenants.send(request, endpoint);
      assert.ok(status < 500, request.path);
      assert.equal(SECRETS.exec(text)?.[0], undefined, `${request.path}: ${text}`);
    }
    const open = await browserOf(client);
    const { body: overview } = await client.get('/v1/overview');
    const { slug } = overview.session.organizations.find(
      (it: { organization_id: string }) => it.organization_id === tenants.a.workspace_id,
    );
    assert.equal((await open(`/${slug}`)).status, 200);
    for (const { method, path } of ROUTES) {
      if (method !== 'GET' || path.includes(':wiki')) continue;
      const { status, body } = await open(path.replace(':workspace', slug));
      assert.ok(status < 500, path);
      assert.equal(SECRETS.exec(body)?.[0], undefined, `${path}: ${body}`);
    }
  });
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

test('a tag from before a grant ended matches no response after it', async () => {
  const { wiki_id, api } = one;
  const person = await world.member(tenants.a.workspace_id, 'member');
  const { page_id, path } = await must(await owner.post(`${api}/pages`, { title: 'Tagged page', markdown: 'x' }));
  const levels = { [owner.user_id]: 'manage' } as const;
  await must(await putAccess(owner, { wiki_id, page_id }, { ...levels, [person.user_id]: 'read' }));
  const lists = ['tree', 'branches', `branches?page_id=${page_id}`, `pages/view/${path}`, `pages/${page_id}`];
  const ask = (list: string, tag?: string | null) =>
    person.get(`${api}/${list}`, tag ? { 'if-none-match': tag } : undefined);
  const tags: (string | null)[] = [];
  for (const list of lists) {
    const { status, headers } = await ask(list);
    tags.push(headers.get('etag'));
    assert.equal(status, 200, list);
    if (tags.at(-1)) assert.equal((await ask(list, tags.at(-1))).status, 304, list);
  }
  assert.ok(tags.filter(Boolean).length >= 3);
  await must(await putAccess(owner, { wiki_id, page_id }, levels));
  for (const [i, list] of lists.entries()) {
    const { status, body } = await ask(list, tags[i]);
    assert.notEqual(status, 304, list);
    assert.ok(!JSON.stringify(body).includes('Tagged page'), list);
  }
});

test('a link to a hidden page is missing for its writer, also in a preview, and leads there for readers of the page', async () => {
  const { wiki_id, api } = one;
  const [, member] = readers[1] as [string, Client];
  const { page_id } = await must(await owner.post(`${api}/pages`, { title: 'Aim', markdown: 'x' }));
  await must(await putAccess(owner, { wiki_id, page_id }, {}));
  const markdown = '[[Aim]] and [it](aim)';
  const written = await must(await member.post(`${api}/pages`, { title: 'Aiming', markdown }));
  const preview = await must(await member.post(`${api}/preview`, { markdown, page_path: 'aiming' }));
  for (const { html } of [written, preview]) assert.match(html, /<a class="wiki missing"[^>]*>Aim</);
  const linksOf = async (client: Client) =>
    (await must(await client.get(`${api}/broken-links?limit=100`)))
      .filter((link: { page_id: string }) => link.page_id === written.page_id)
      .map(({ target }: { target: string }) => target)
      .sort();
  assert.deepEqual(await linksOf(member), ['[[Aim]]', 'aim']);
  assert.deepEqual(await linksOf(owner), []);
  const backlinks = await must(await owner.get(`${api}/pages/${page_id}/backlinks`));
  assert.deepEqual(
    backlinks.map(({ title }: { title: string }) => title),
    ['Aiming'],
  );
  assert.match((await owner.get(`${api}/pages/${written.page_id}`)).body.html, /<a class="wiki" href="aim">Aim</);
});

test('what people starred, drafted and moved to the trash is hidden from them with the page, and comes back', async () => {
  const { wiki_id, api } = one;
  const person = await world.member(tenants.a.workspace_id, 'member');
  const { page_id, path } = await must(await person.post(`${api}/pages`, { title: 'Kept', markdown: 'x' }));
  const { page_id: trashed } = await must(
    await person.post(`${api}/pages`, { title: 'Thrown away', markdown: 'x', parent_page_id: page_id }),
  );
  await must(await person.send('PUT', `${api}/starred-pages/${page_id}`));
  await must(await person.send('DELETE', `${api}/pages/${trashed}`));
  const autosave = { page_id, title: 'Kept', markdown: 'y', base_revision: 1 };
  await must(
    await person.send('PUT', `${api}/autosaves/${'a'.repeat(24)}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(autosave),
    }),
  );
  const named = async () => {
    const lists = ['starred-pages', 'trash', 'autosaves', 'recent-pages'].map(async (list) =>
      JSON.stringify((await person.get(`${api}/${list}`)).body),
    );
    return (await Promise.all(lists)).map((text) => [page_id, trashed].some((id) => text.includes(id)));
  };
  assert.deepEqual(await named(), [true, true, true, true]);
  await restrict(world.db, { wiki_id, page_id }, { [owner.user_id]: 'manage' });
  assert.deepEqual((await named()).slice(0, 2), [false, false]);
  assert.equal((await named())[3], false);
  for (const address of [`pages/path/${path}`, `pages/${trashed}/revisions`, `pages/${page_id}/revisions`]) {
    assert.equal((await person.get(`${api}/${address}`)).status, 404, address);
  }
  assert.equal((await person.post(`${api}/pages/${trashed}/restore`)).status, 404);
  await lift(world.db, { wiki_id, page_id });
  assert.deepEqual(await named(), [true, true, true, true]);
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
  const { wiki_id, api } = await fill('wiki-3', true);
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

test('a page restored from the trash does not leave a restricted page that is in the trash too', async () => {
  const { wiki_id, api } = one;
  const [, member] = readers[1] as [string, Client];
  const top = await must(await owner.post(`${api}/pages`, { title: 'Thrown away', markdown: 'x' }));
  await must(await putAccess(owner, { wiki_id, page_id: top.page_id }, {}));
  const part = await must(
    await owner.post(`${api}/pages`, { title: 'Part of it', markdown: 'x', parent_page_id: top.page_id }),
  );
  const path = `${api}/pages/${part.page_id}`;
  assert.equal((await owner.send('DELETE', path)).status, 204);
  assert.equal((await owner.send('DELETE', `${api}/pages/${top.page_id}`)).status, 204);
  const refused = await owner.post(`${path}/restore`);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.equal((await owner.post(`${api}/pages/${top.page_id}/restore`)).status, 200);
  assert.equal((await owner.post(`${path}/restore`)).body.path, 'thrown-away/part-of-it');
  assert.equal((await member.get(path)).status, 404);
});

test('who may write restricted pages moves them among each other, but not to more people', async () => {
  const { wiki_id, api } = one;
  const [, member] = readers[1] as [string, Client];
  const writer = await world.member(tenants.a.workspace_id, 'member');
  const page = async (title: string, parent_page_id = '') =>
    (await must(await owner.post(`${api}/pages`, { title, markdown: 'x', parent_page_id }))).page_id as string;
  const top = await page('Writers');
  await must(
    await putAccess(owner, { wiki_id, page_id: top }, { [owner.user_id]: 'manage', [writer.user_id]: 'write' }),
  );
  const [left, right] = [await page('Left', top), await page('Right', top)];
  const admitted = { [owner.user_id]: 'manage', [writer.user_id]: 'manage', [member.user_id]: 'read' } as const;
  await must(await putAccess(owner, { wiki_id, page_id: left }, admitted));
  const moved = async (page_id: string, change: object) =>
    (await writer.patch(`${api}/pages/${page_id}`, change)).status;
  assert.equal(await moved(right, { parent_page_id: left }), 200);
  assert.equal(await moved(right, { parent_page_id: top }), 200, 'the writer manages the part that it leaves');
  assert.equal(
    await moved(left, { parent_page_id: '' }),
    403,
    'who only manages the inner restriction keeps it inside',
  );
  assert.equal((await member.get(`${api}/pages/${left}`)).status, 404);
  assert.equal(await moved(top, { slug: 'all-writers' }), 200);
});

test('who does not manage a restricted part cannot rename the path of the pages around it', async () => {
  const { wiki_id, api } = one;
  const [, member] = readers[1] as [string, Client];
  const reader = await world.member(tenants.a.workspace_id, 'member');
  const top = await must(await owner.post(`${api}/pages`, { title: 'Frame', markdown: 'x' }));
  const part = await must(
    await owner.post(`${api}/pages`, { title: 'Picture', markdown: 'x', parent_page_id: top.page_id }),
  );
  const levels = { [owner.user_id]: 'manage', [reader.user_id]: 'read' } as const;
  await must(await putAccess(owner, { wiki_id, page_id: part.page_id }, levels));
  for (const client of [member, reader]) {
    const { status, body } = await client.patch(`${api}/pages/${top.page_id}`, { slug: 'framed' });
    assert.deepEqual([status, body.error], [403, 'forbidden']);
  }
  assert.equal((await owner.patch(`${api}/pages/${top.page_id}`, { slug: 'framed' })).status, 200);
  assert.equal((await reader.get(`${api}/pages/${part.page_id}`)).body.path, 'framed/picture');
});

test('a repeated request gets no stored answer about a page that is hidden by now', async () => {
  const { wiki_id, api } = one;
  const writer = await world.member(tenants.a.workspace_id, 'member');
  const { page_id } = await must(await owner.post(`${api}/pages`, { title: 'Shared', markdown: 'x' }));
  const levels = { [owner.user_id]: 'manage', [writer.user_id]: 'write' } as const;
  await must(await putAccess(owner, { wiki_id, page_id }, levels));
  const body = { title: 'Written', markdown: 'Secret.', parent_page_id: page_id };
  const write = () => writer.post(`${api}/pages`, body, { 'idempotency-key': 'written' });
  assert.deepEqual([(await write()).status, (await write()).status], [201, 201]);
  await must(await putAccess(owner, { wiki_id, page_id }, { [owner.user_id]: 'manage' }));
  assert.equal((await write()).status, 404);
});

test('links of a restricted page to a missing page lead to the page that somebody else makes there', async () => {
  const { wiki_id, api } = one;
  const [, member] = readers[1] as [string, Client];
  const reader = await world.member(tenants.a.workspace_id, 'member');
  const markdown = '[[Not yet]], [later](yet-later), [[Renamed yet]]';
  const { page_id } = await must(await owner.post(`${api}/pages`, { title: 'Waiting', markdown }));
  const levels = { [owner.user_id]: 'manage', [reader.user_id]: 'read' } as const;
  await must(await putAccess(owner, { wiki_id, page_id }, levels));
  const targets = async () =>
    (await must(await owner.get(`${api}/broken-links`)))
      .filter((link: { page_id: string }) => link.page_id === page_id)
      .map(({ target }: { target: string }) => target);
  assert.equal((await targets()).length, 3);
  await must(await member.post(`${api}/pages`, { title: 'Not yet', markdown: 'x' }));
  const made = await must(await reader.post(`${api}/pages`, { title: 'Other', slug: 'yet-later', markdown: 'x' }));
  await must(await member.patch(`${api}/pages/${made.page_id}`, { title: 'Renamed yet', base_revision: 1 }));
  assert.deepEqual(await targets(), []);
});
