import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ENDPOINTS } from '../src/app.ts';
import type { Endpoint } from '../src/platform/http/endpoint.ts';
import { mergePending } from '../src/wiki/search/index/merge-pending.ts';
import { type Ids, propertiesOf } from './requests.ts';
import { signedInClient } from './signed-in.ts';
import { addGoneFile, addLosses, addRow, addTemplate, PLAIN_TABLES, type Tenants } from './tenants.ts';

/** Every list that has pages. Lists with only a limit, such as suggestions, do not. */
export const LISTS: readonly Endpoint[] = ENDPOINTS.filter((endpoint) => 'offset' in propertiesOf(endpoint.query));

/** Query parameters that a list requires in addition to its page. */
export const NEEDED: Record<string, Record<string, string>> = {
  'GET /v1/wikis/:wiki_id/pages/search': { query: 'paragraph' },
  'GET /v1/wikis/:wiki_id/sources/search': { query: 'paragraph' },
};

/** Optional queries that change the records of a list or their order. */
export const QUERIES: Record<string, string[]> = {
  'GET /v1/wikis/:wiki_id/uploads': ['order=newest'],
  'GET /v1/wikis/:wiki_id/uploads/:upload_id/files': ['status=done'],
  'GET /v1/wikis/:wiki_id/jobs': ['status=completed'],
  'GET /v1/wikis/:wiki_id/pages': ['status=published', 'tag=common'],
  'GET /v1/wikis/:wiki_id/pages/search': ['sort=title', 'sort=updated', 'status=published'],
  'GET /v1/wikis/:wiki_id/sources/search': ['sort=created', 'path=file'],
  'GET /v1/workspaces/:workspace_id/audit-events': ['type=page.created', 'after=2020-01-01T00:00:00Z', 'order=newest'],
  'GET /v1/workspaces/:workspace_id/invitations': ['state=pending'],
};

/** Returns the name of the list's cursor parameter. */
export function cursorName(endpoint: Endpoint): string {
  return endpoint.paging?.parameter ?? 'after';
}

/** Adds at least five records to each list of a tenant. Returns the ids for requesting the lists. */
export async function fillLists(tenants: Tenants): Promise<Ids> {
  const { world, owner, a } = tenants;
  const client = world.as(owner.token);
  const [workspace, wiki] = [`/v1/workspaces/${a.workspace_id}`, `/v1/wikis/${a.wiki_id}`];
  const post = async (path: string, body: unknown) => {
    const answer = await client.post(path, body);
    assert.equal(answer.status < 300, true, JSON.stringify(answer.body));
    return answer.body;
  };
  const blocks = Array.from({ length: 6 }, (_, i) => `Paragraph ${i} of it.`).join('\n\n');
  const files = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`file${i}.md`, `# File ${i}\n\n${blocks}\n`]));
  const { body: upload } = await world.upload(client, a.wiki_id, files);
  assert.equal(upload.status, 'completed', upload.error);
  const { page_id } = (await client.get(`${wiki}/pages/path/file0`)).body;
  for (let i = 0; i < 5; i += 1) {
    await world.upload(client, a.wiki_id, { [`more${i}.md`]: `---\ntags: [common, tag ${i}]\n---\n# More ${i}\n` });
    await post(`${workspace}/wikis`, { title: `Wiki ${i}` });
    const deleted = await post(`${workspace}/wikis`, { title: `Deleted ${i}` });
    await client.send('DELETE', `/v1/wikis/${deleted.wiki_id}`);
    await post(`${workspace}/members/invite`, { email: `${randomUUID()}@example.com`, role: 'viewer' });
    await post(`${workspace}/api-keys`, { name: `key ${i}` });
    await post('/v1/me/api-keys', { name: `key ${i}` });
    await signedInClient(world, owner.user_id);
    const child = { title: `Child ${i}`, markdown: '[[File 0]] [[Missing]]', parent_page_id: page_id };
    await addGoneFile(world.db, (await post(`${wiki}/pages`, child)).page_id, `gone${i}.md`);
    await addTemplate(world.db, a.wiki_id, (await post(`${wiki}/pages`, child)).page_id);
    const starred = await client.send('PUT', `${wiki}/starred-pages/${(await post(`${wiki}/pages`, child)).page_id}`);
    assert.equal(starred.status, 200, JSON.stringify(starred.body));
    const trashed = await post(`${wiki}/pages`, { title: `Trashed ${i}`, markdown: '' });
    await client.send('DELETE', `${wiki}/pages/${trashed.page_id}`);
    const autosave = await client.send('PUT', `${wiki}/autosaves/autosave-${i}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: `Unsaved ${i}`, markdown: '' }),
    });
    assert.equal(autosave.status, 200, JSON.stringify(autosave.body));
    const saved = await client.send('PUT', `${wiki}/saved-searches/saved-search-${i}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Search ${i}`, query: `number ${i}` }),
    });
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
    const { body: page } = await client.get(`${wiki}/pages/${page_id}`);
    const edit = { markdown: `${page.markdown}\nOne more line, ${i}.\n`, base_revision: page.revision };
    assert.equal((await client.patch(`${wiki}/pages/${page_id}`, edit)).status, 200);
    const body = new FormData();
    body.append('file', new Blob([`Attached ${i}`]), 'note.txt');
    const attached = await client.send('POST', `${wiki}/pages/${page_id}/attachments`, { body });
    assert.equal(attached.status, 201, JSON.stringify(attached.body));
  }
  for (const table of PLAIN_TABLES) for (let i = 0; i < 5; i += 1) await addRow(world.db, table, a, `Row ${i}`);
  await addLosses(world.db, a.wiki_id, 'of a file');
  // Merge the index now: a merge changes scores.
  for (const kind of ['page', 'source'] as const) while ((await mergePending(world.db, a.wiki_id, kind, 'wait')) > 0);
  return { ...a, page_id, upload_id: upload.upload_id };
}
