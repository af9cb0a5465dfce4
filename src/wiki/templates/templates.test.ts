import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;
const make = async (page: object) => (await owner.post(`${wiki}/pages`, page)).body;
const mark = (page_id: string, by = owner) => by.send('PUT', `${wiki}/templates/${page_id}`);
const titles = async (by = owner) =>
  (await by.get(`${wiki}/templates`)).body.map(({ title }: { title: string }) => title);
const guide = await make({ title: 'Guide', markdown: '' });
await make({ title: 'Setup', markdown: 'Loom.\n', parent_page_id: guide.page_id });
const markdown =
  '# {{title}}\r\n\r\n{{date}}, {{author}}. {{ title }} {{other}} [Setup](setup#a) [[Setup]] ![p](attachment:attachment_x)\n';
const template = await make({ title: 'Notes of {{date}}', markdown, parent_page_id: guide.page_id, status: 'draft' });

test('a page becomes a template and an ordinary page again, each with one audit record', async () => {
  const { status, body } = await mark(template.page_id);
  assert.deepEqual([status, body.path, body.created_by], [200, template.path, owner.user_id]);
  assert.equal((await mark(template.page_id)).body.created_at, body.created_at, 'it is already a template');
  const other = await make({ title: 'Other', markdown: '' });
  await mark(other.page_id);
  assert.deepEqual(await titles(), ['Notes of {{date}}', 'Other']);
  assert.equal((await owner.send('DELETE', `${wiki}/templates/${other.page_id}`)).status, 204);
  assert.equal((await owner.send('DELETE', `${wiki}/templates/${other.page_id}`)).status, 404);
  assert.deepEqual(await titles(), ['Notes of {{date}}']);
  assert.equal((await owner.get(`${wiki}/pages/${other.page_id}`)).body.title, 'Other');
  const records = await world.db.query<{ type: string; target_id: string }>(sql`
    select type, target_id from audit_events where type like 'template.%' order by event_id`);
  assert.deepEqual(records, [
    { type: 'template.added', target_id: template.page_id },
    { type: 'template.added', target_id: other.page_id },
    { type: 'template.removed', target_id: other.page_id },
  ]);
});

test('a page made from a template has its text, with the variables replaced and every link to the same page as before', async () => {
  const path = `${wiki}/templates/${template.page_id}/pages`;
  const { status, body } = await owner.post(path, { title: ' Friday $& ', date: '2026-11-22' });
  assert.equal(status, 201, body.message);
  const { display_name } = (await owner.get('/v1/me')).body;
  assert.equal(
    body.markdown,
    `# Friday $&\r\n\r\n2026-11-22, ${display_name}. {{ title }} {{other}} [Setup](guide/setup#a) [[Setup]] ![p](attachment:attachment_x)\n`,
  );
  assert.deepEqual([body.title, body.path, body.status, body.origin], ['Friday $&', 'friday', 'published', 'authored']);
  assert.match(body.html, /href="guide\/setup#h-a"/);
  const again = await owner.post(path, { title: 'Friday $&', parent_page_id: guide.page_id });
  assert.match(again.body.markdown, /\[Setup\]\(setup#a\)/, 'next to its template, links stay unchanged');
  assert.equal((await owner.post(path, { title: 'Friday $&' })).body.path, 'friday-2', 'a free slug');
  assert.equal((await owner.post(path, { title: 'x', slug: 'friday' })).body.error, 'slug_taken');
  const [unnamed, today] = [(await owner.post(path, {})).body, new Date().toISOString().slice(0, 10)];
  assert.match(unnamed.title, /^Notes of \d{4}-\d\d-\d\d$/);
  assert.ok(unnamed.title <= `Notes of ${today}`);
  const found = await owner.get(`${wiki}/pages/search?query=Friday`);
  assert.ok(found.body.length >= 3, 'they are indexed as other pages are');
  const records = await world.db.query(sql`
    select 1 from audit_events where type = 'page.created' and target_id = ${body.page_id}`);
  assert.equal(records.length, 1);
});

test('a template is read with its links relative to the path of the new page', async () => {
  const read = async (page_path: string) =>
    (await owner.get(`${wiki}/templates/${template.page_id}?page_path=${page_path}`)).body.markdown;
  assert.equal(await read('guide/page'), markdown);
  assert.match(await read('page'), /\{\{title\}\}.*\[Setup\]\(guide\/setup#a\)/s);
  assert.match(await read('a/b/page'), /\[Setup\]\(\.\.\/\.\.\/guide\/setup#a\)/);
});

test('viewers cannot make templates or see drafts; pages of other wikis, deleted pages and ordinary pages are not templates', async () => {
  const viewer = await world.member(owner.workspace_id, 'viewer');
  assert.deepEqual(await titles(viewer as unknown as typeof owner), []);
  assert.equal((await viewer.get(`${wiki}/templates/${template.page_id}`)).status, 404);
  assert.equal((await mark(guide.page_id, viewer as unknown as typeof owner)).status, 403);
  assert.equal((await viewer.post(`${wiki}/templates/${template.page_id}/pages`, { title: 'x' })).status, 403);
  assert.equal((await owner.post(`${wiki}/templates/${guide.page_id}/pages`, { title: 'x' })).status, 404);
  const other = await world.owner();
  const foreign = `/v1/wikis/${other.wiki_id}/templates/${template.page_id}`;
  const asked = [other.get(foreign), other.send('PUT', foreign), other.post(`${foreign}/pages`, { title: 'x' })];
  assert.deepEqual(
    (await Promise.all(asked)).map(({ status }) => status),
    [404, 404, 404],
  );
  const gone = await make({ title: 'Gone', markdown: '' });
  await mark(gone.page_id);
  await owner.send('DELETE', `${wiki}/pages/${gone.page_id}`);
  assert.ok(!(await titles()).includes('Gone'));
  assert.equal((await owner.post(`${wiki}/templates/${gone.page_id}/pages`, { title: 'x' })).status, 404);
  await owner.post(`${wiki}/pages/${gone.page_id}/restore`);
  assert.ok((await titles()).includes('Gone'), 'a restored page is a template again');
});

test('the number of replaced variables in a text is limited', async () => {
  const many = await make({ title: 'Many', markdown: '{{title}} '.repeat(5_000) });
  await mark(many.page_id);
  const { body } = await owner.post(`${wiki}/templates/${many.page_id}/pages`, { title: 'x'.repeat(255) });
  assert.deepEqual(
    [body.markdown.match(/x{255}/g).length, body.markdown.match(/\{\{title\}\}/g).length],
    [1_000, 4_000],
  );
});
