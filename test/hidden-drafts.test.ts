import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../src/app.ts';
import { browserCookieName } from '../src/platform/http/browser-cookie.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { ROUTES } from '../web/routes.ts';
import { nameOf, PUBLIC_URL, pathOf, propertiesOf } from './requests.ts';
import { signedInClient } from './signed-in.ts';
import { openTenants } from './tenants.ts';
import type { Client } from './world.ts';

/** Words that occur only in the wiki's drafts: in a title, a slug, a text, and the text of a compiled draft. */
const SECRETS = /quixotic|quagmire|xylograph|obsidian/i;

/**
 * Queries that could reveal the contents of an index: words, prefixes and misspellings of the secrets, and public
 * words.
 */
const QUERIES = ['quixotic', 'quixo', 'qiuxotic', 'xylograph', 'xylog', 'xylogarph', 'obsidain', 'child', 'notes'];

const tenants = await openTenants();
const { world, a } = tenants;
const owner = world.as(tenants.owner.token, tenants.owner.user_id);
const api = `/v1/wikis/${a.wiki_id}`;

const create = async (title: string, more: object) => {
  const { status, body } = await owner.post(`${api}/pages`, { title, markdown: '', ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
};

const top = await create('Top', {});
const draft = await create('Quixotic plan', {
  slug: 'quagmire',
  parent_page_id: top.page_id,
  status: 'draft',
  markdown: `Xylograph. [child](quagmire/child)`,
});
const child = await create('Child', { parent_page_id: draft.page_id, markdown: 'one' });
await create('Sibling', { parent_page_id: draft.page_id });
await create('Below', { parent_page_id: child.page_id });
await owner.patch(`${api}/pages/${child.page_id}`, { markdown: 'two', base_revision: 1 });
// Drafts with public titles and secret paths. The second one goes to the trash.
await create('Plan', { slug: 'quagmire-plan', parent_page_id: draft.page_id, status: 'draft' });
const scheme = await create('Scheme', { slug: 'quagmire-scheme', status: 'draft' });
const LINKS = '[[Plan]] [[Plan|the plan]] [[Plan#Costs]] [[Scheme]]\n\n![[Plan]]\n';
const links = await create('Links', { markdown: LINKS });
await owner.patch(`${api}/pages/${links.page_id}`, { markdown: `${LINKS}\n[[Child]]\n`, base_revision: 1 });
await owner.send('DELETE', `${api}/pages/${scheme.page_id}`);
await owner.send('PUT', `${api}/templates/${links.page_id}`);
await world.upload(owner, a.wiki_id, { 'linking.md': `# Linking\n\n${LINKS}` });
// A page made from a file, then hidden, renamed and edited. After that, the file is uploaded again with the same line
// changed.
await world.upload(owner, a.wiki_id, { 'notes.md': '# Notes\n\nFirst.\n\nSecond.\n' });
const { body: notes } = await owner.get(`${api}/pages/path/notes`);
await owner.patch(`${api}/pages/${notes.page_id}`, {
  status: 'draft',
  slug: 'quagmire-notes',
  title: 'Quixotic notes',
  markdown: '# Notes\n\nFirst.\n\nObsidian.\n',
  base_revision: 1,
});
const again = await world.upload(owner, a.wiki_id, { 'notes.md': '# Notes\n\nFirst.\n\nThird.\n' });
assert.equal(again.body.status, 'completed');
// Pages made from files that link to this page's file, by its name and as a wiki link: in another upload, and in the
// same one.
const POINTING = '# Pointing\n\n[notes](notes.md) [[notes]] [[notes.md]]\n';
await world.upload(owner, a.wiki_id, { 'pointing.md': POINTING });
await world.upload(owner, a.wiki_id, { 'beside.md': POINTING, 'notes.md': '# Notes\n\nFourth.\n' });

const viewer = await world.member(a.workspace_id, 'viewer');
const readers: [string, Client][] = [
  ['a viewer', viewer],
  ['a key of an owner that may only read', await keyThatReads()],
];

/** Removes the paths of visible pages below a hidden one: they contain its slug, which is then no secret. */
function withoutOwnPaths(text: string): string {
  return text.replace(/top\/quagmire\/(?:child|sibling)(?:\/below)?/g, '');
}

async function keyThatReads(): Promise<Client> {
  return world.as(await tenants.key(tenants.owner.user_id, { permissions: ['pages:read', 'sources:read'] }));
}

async function idsOf(list: string, name: string): Promise<string[]> {
  const { status, body } = await owner.get(`${api}/${list}?limit=500`);
  assert.equal(status, 200);
  return body.map((record: Record<string, string>) => record[name] ?? '');
}

const values: Record<string, string[]> = {
  wiki_id: [a.wiki_id],
  page_id: await idsOf('tree', 'page_id'),
  page_path: [top.path, draft.path, child.path, 'notes', 'quagmire-notes', 'links', 'linking', 'pointing', 'beside'],
  source_id: await idsOf('sources', 'source_id'),
  upload_id: await idsOf('uploads', 'upload_id'),
  job_id: await idsOf('jobs', 'job_id'),
  revision: ['1', '2'],
  from_revision: ['1'],
  to_revision: ['2'],
};

const WIKI_ENDPOINTS = ENDPOINTS.filter(({ method, access }) => method === 'GET' && access.on === 'wiki');

/** Yields the URLs of an endpoint for the known records of the wiki, with the queries to try. */
function* addressesOf(endpoint: Endpoint): Generator<string> {
  const names = [...endpoint.path.matchAll(/[:*]([a-z_]+)/g)].map(([, name = '']) => name);
  const fill = (ids: typeof a, [name, ...rest]: string[]): (typeof a)[] =>
    name === undefined
      ? [ids]
      : (values[name] ?? [ids[name] ?? '']).flatMap((id) => fill({ ...ids, [name]: id }, rest));
  const query = propertiesOf(endpoint.query);
  for (const ids of fill(a, names)) {
    const path = pathOf(endpoint, ids);
    if ('query' in query) for (const text of QUERIES) yield `${path}?query=${text}`;
    else if ('page_id' in query) for (const id of ['', ...(values.page_id ?? [])]) yield `${path}?page_id=${id}`;
    else if ('status' in query) for (const status of ['draft', 'done', 'archived']) yield `${path}?status=${status}`;
    if (!('query' in query)) yield path;
  }
}

// Merge the index, so that the words of the drafts could become spelling corrections.
while ((await mergePending(world.db, a.wiki_id, 'page', 'wait')) > 0);

for (const [name, client] of readers) {
  for (const endpoint of WIKI_ENDPOINTS) {
    test(`${nameOf(endpoint)} discloses nothing of a draft to ${name}`, async () => {
      for (const address of addressesOf(endpoint)) {
        for (const accept of ['application/json', 'text/html', 'text/markdown']) {
          const { status, body } = await client.get(address, { accept });
          assert.ok(status < 500, address);
          const text = withoutOwnPaths(typeof body === 'string' ? body : JSON.stringify(body));
          assert.equal(SECRETS.exec(text)?.[0], undefined, `${address}: ${text}`);
        }
      }
    });
  }
}

test('no page of the web application discloses anything of a draft to a viewer', async () => {
  const { body: session } = await (await signedInClient(world, viewer.user_id)).post('/v1/auth/browser');
  const cookie = `${browserCookieName(PUBLIC_URL)}=${session.browser_secret}`;
  const open = (path: string) =>
    world.anonymous.send('GET', path, { headers: { accept: 'text/html', cookie }, redirect: 'manual' });
  const { body: overview } = await viewer.get('/v1/overview');
  const { slug } = overview.wikis.find(({ wiki_id }: { wiki_id: string }) => wiki_id === a.wiki_id);
  const root = `/${overview.session.organizations[0].slug}/${slug}`;
  // Pages repeat the query, so it is no secret here.
  const rest = [
    top.path,
    child.path,
    'notes',
    'links',
    'linking',
    'pointing',
    'beside',
    'xylogarph',
    ...(values.source_id ?? []),
    ...(values.upload_id ?? []),
  ];
  const queries = QUERIES.filter((query) => !SECRETS.test(query)).map((query) => `?query=${query}`);
  for (const { method, path } of ROUTES) {
    if (method !== 'GET' || !path.startsWith('/:workspace/:wiki')) continue;
    const below = path.slice('/:workspace/:wiki'.length);
    const addresses = /[*:]/.test(below) ? rest.map((each) => below.replace(/\*|:\w+/, each)) : [below];
    for (const address of [...addresses, ...queries.map((query) => below + query)]) {
      const { status, body } = await open(root + address);
      assert.ok(status < 500, address);
      // The edit form shows the page's path, which contains its parent's path.
      const shown = withoutOwnPaths(body).replaceAll(draft.path, '');
      assert.equal(SECRETS.exec(shown)?.[0], undefined, `${address}: ${body}`);
    }
  }
  const { body } = await open(`${root}/${child.path}`);
  const crumbs = /<nav class="crumbs"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? '';
  assert.deepEqual([...crumbs.matchAll(/>([^<>\s][^<>]*)</g)].map(([, text]) => text).slice(1), ['Top']);
  assert.match(body, /aria-current="page">Child</, 'the tree shows where the reader is');
});

test('for a reader, a link to a draft or to a trashed page looks like a link to a page that does not exist', async () => {
  const missing = [
    '<a class="wiki missing" data-target="Plan">Plan</a>',
    '<a class="wiki missing" data-target="Plan">the plan</a>',
    '<a class="wiki missing" data-target="Plan" data-fragment="#h-costs">Plan#Costs</a>',
    '<a class="wiki missing" data-target="Scheme">Scheme</a>',
    '<a class="wiki missing embed" data-target="Plan">Plan</a>',
  ];
  const addresses = [`/${links.page_id}`, '/path/links', '/view/links', '/path/linking'];
  for (const n of [1, 2]) addresses.push(`/${links.page_id}/revisions/${n}`);
  for (const [name, client] of readers) {
    for (const address of addresses) {
      const { body } = await client.get(`${api}/pages${address}`);
      const html: string = body.html ?? body.page.html;
      assert.deepEqual(html.match(/<a class="wiki missing.*?<\/a>/g), missing, `${name}: ${address}`);
    }
    const { body } = await client.get(`${api}/pages/${links.page_id}`);
    assert.match(
      body.html,
      /<a class="wiki" href="top\/quagmire\/child">Child<\/a>/,
      'other links lead to their pages',
    );
  }
  const { body } = await owner.get(`${api}/pages/${links.page_id}`);
  assert.match(body.html, /<a class="wiki" href="top\/quagmire\/quagmire-plan">Plan<\/a>/);
});

test('drafts are visible to members who may write', async () => {
  const { body } = await owner.get(`${api}/branches?page_id=${child.page_id}`);
  assert.ok(body.some(({ title }: { title: string }) => title === 'Quixotic plan'));
  const { body: suggested } = await owner.get(`${api}/suggest?query=xylogarph`);
  assert.deepEqual(
    suggested.map(({ text }: { text: string }) => text),
    ['xylograph'],
  );
  const { body: files } = await owner.get(`${api}/uploads/${again.body.upload_id}/files`);
  assert.deepEqual([files[0].page_path, files[0].page_change], ['quagmire-notes', 'kept']);
  assert.match(again.body.summary, /the same places of: notes\.md\./);
});
