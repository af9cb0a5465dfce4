import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { rowsOf } from '../../../test/plans.ts';
import { openWorld } from '../../../test/world.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';

const sent: { text: string; values: readonly unknown[] }[] = [];
const world = await openWorld({}, { observe: (text, values) => sent.push({ text, values }) });
const owner = await world.owner();
const pages = `/v1/wikis/${owner.wiki_id}/pages`;
const FORMS = ['application/json', 'text/markdown', 'text/html'];

async function created(title: string, markdown: string): Promise<string> {
  const { status, body } = await owner.post(pages, { title, markdown });
  assert.equal(status, 201);
  return body.page_id;
}

longTest('each form of a page is known by an ETag of its own, until something of it changes', async () => {
  const target = await created('Target', 'Text');
  const page_id = await created('Page', '[a link](target)');
  const path = `${pages}/${page_id}`;
  const tags = async (address: string) => {
    const answers = await Promise.all(FORMS.map((accept) => owner.get(address, { accept })));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    return answers.map(({ headers }) => String(headers.get('etag')));
  };
  const first = await tags(path);
  assert.equal(new Set(first).size, FORMS.length);
  for (const [i, accept] of FORMS.entries()) {
    for (const [j, tag] of first.entries()) {
      const { status, headers, body } = await owner.get(path, { accept, 'if-none-match': tag });
      assert.equal(status, i === j ? 304 : 200);
      assert.equal(headers.get('etag'), first[i]);
      if (i === j) assert.equal(body, '');
    }
  }
  assert.equal((await owner.get(path, { 'if-none-match': '*' })).status, 304);
  // Move the linked page, which changes the links of this page; then change its own path, and its text.
  const changes: [path: string, change: object][] = [
    [`${pages}/${target}`, { slug: 'elsewhere' }],
    [path, { slug: 'moved' }],
    [path, { markdown: 'Another text', base_revision: 1 }],
  ];
  let before = first;
  for (const [changed, change] of changes) {
    assert.equal((await owner.patch(changed, change)).status, 200);
    const after = await tags(path);
    for (const tag of after) assert.ok(!before.includes(tag), JSON.stringify(change));
    before = after;
  }
});

test('a request for a former path redirects to the current one, even with its ETag', async () => {
  const page_id = await created('Old', 'Text');
  await owner.patch(`${pages}/${page_id}`, { slug: 'new' });
  const headers = { accept: 'text/html' };
  const etag = String((await owner.get(`${pages}/path/new`, headers)).headers.get('etag'));
  const get = (path: string) =>
    owner.send('GET', `${pages}/path/${path}`, { headers: { ...headers, 'if-none-match': etag }, redirect: 'manual' });
  assert.deepEqual([(await get('old')).status, (await get('new')).status], [308, 304]);
});

test('a client with the current page is answered without reading its text, and only the requested form is read', async () => {
  const path = `${pages}/${await created('Read', 'Some text')}`;
  const read = async (headers: Record<string, string>) => {
    sent.length = 0;
    const answer = await owner.get(path, headers);
    const statement = sent.find(({ text }) => text.includes(' as _record_use'));
    assert.ok(statement);
    const context = sql`
      select set_request_context('key', ${sha256(owner.token ?? '')}::bytea, null, null, null, ${owner.wiki_id}, null, null)`;
    const [row] = (await rowsOf(world.db, context, statement)) as {
      markdown: string;
      html: string;
      outline: object[];
    }[];
    return { etag: String(answer.headers.get('etag')), texts: [row?.markdown, row?.html] };
  };
  const { etag, texts } = await read({});
  assert.deepEqual(texts, ['Some text', '<p>Some text</p>']);
  assert.deepEqual((await read({ 'if-none-match': etag })).texts, ['', '']);
  assert.deepEqual((await read({ accept: 'text/markdown' })).texts, ['Some text', '']);
  assert.deepEqual((await read({ accept: 'text/html' })).texts, ['', '<p>Some text</p>']);
});
