import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();
const wiki = `/v1/wikis/${owner.wiki_id}`;
const reader = await world.member(owner.workspace_id, 'viewer');

const tagsFor = async (who: Pick<typeof owner, 'get'> = owner) =>
  (await who.get(`${wiki}/tags`)).body.map(({ tag, page_count }: { tag: string; page_count: number }) => [
    tag,
    page_count,
  ]);
const propertiesOf = async (page_id: string) => (await owner.get(`${wiki}/pages/${page_id}/properties`)).body;
const pathsOf = async (tag: string, who: Pick<typeof owner, 'get'> = owner) =>
  (await who.get(`${wiki}/pages?tag=${encodeURIComponent(tag)}`)).body.map(({ path }: { path: string }) => path).sort();

test('the tags of a page come from its front matter, and follow its text, status and trash', async () => {
  await world.upload(owner, owner.wiki_id, {
    'install.md': '---\ntitle: Install\ntags: [Setup, "how to", setup]\nauthor: Ada\nsince: 1.10\n---\nText.\n',
    'hugo.md': '+++\ntitle = "Hugo"\ntags = ["setup", \'go\']\nweight = 3\n+++\nText.\n',
    'plain.md': '# Plain #setup\n',
  });
  assert.deepEqual(await tagsFor(), [
    ['go', 1],
    ['how to', 1],
    ['Setup', 2],
  ]);
  assert.deepEqual(await pathsOf('SETUP'), ['hugo', 'install']);
  const install = await propertiesOf((await owner.get(`${wiki}/pages/path/install`)).body.page_id);
  assert.deepEqual(install.tags, ['Setup', 'how to']);
  assert.deepEqual(install.properties, [
    { name: 'author', value: 'Ada' },
    { name: 'since', value: '1.10' },
  ]);
  const hugo = (await owner.get(`${wiki}/pages/path/hugo`)).body;
  assert.equal(hugo.title, 'Hugo');
  assert.deepEqual(await propertiesOf(hugo.page_id), {
    tags: ['setup', 'go'],
    properties: [{ name: 'weight', value: '3' }],
  });

  const draft = { title: 'Draft', status: 'draft', markdown: '---\ntags: "#setup #secret"\n---\n' };
  const { page_id } = (await owner.post(`${wiki}/pages`, draft)).body;
  assert.deepEqual((await propertiesOf(page_id)).tags, ['setup', 'secret']);
  assert.equal((await reader.get(`${wiki}/pages/${page_id}/properties`)).status, 404);
  assert.deepEqual([await pathsOf('secret'), await pathsOf('secret', reader)], [['draft'], []]);
  assert.deepEqual(
    (await tagsFor(reader)).map(([tag]: [string]) => tag),
    ['go', 'how to', 'Setup'],
  );

  await owner.patch(`${wiki}/pages/${page_id}`, {
    markdown: '---\ntags: go, Ärger\n---\n',
    base_revision: 1,
  });
  assert.deepEqual((await propertiesOf(page_id)).tags, ['go', 'Ärger']);
  assert.deepEqual([await pathsOf('go'), await pathsOf('ärger')], [['draft', 'hugo'], ['draft']]);
  await owner.patch(`${wiki}/pages/${page_id}`, { title: 'Other', base_revision: 2 });
  assert.deepEqual((await propertiesOf(page_id)).tags, ['go', 'Ärger']);
  await owner.post(`${wiki}/pages/${page_id}/revisions/1/restore`, {});
  assert.deepEqual([await pathsOf('go'), await pathsOf('secret')], [['hugo'], ['draft']]);
  await owner.send('DELETE', `${wiki}/pages/${page_id}`);
  assert.deepEqual(await pathsOf('secret'), []);
});

test('an upload of a changed file replaces the tags of its page, even if only a tag changed', async () => {
  await world.upload(owner, owner.wiki_id, { 'hugo.md': '+++\ntitle = "Hugo"\ntags = ["other"]\n+++\nText.\n' });
  assert.deepEqual([await pathsOf('go'), await pathsOf('other')], [[], ['hugo']]);
});

test('hostile or oversized front matter gives a page at most 50 short tags and properties', async () => {
  const many = Array.from({ length: 300 }, (_, i) => `tag${i}`);
  const read = async (front: string) => {
    const { body } = await owner.post(`${wiki}/pages`, { title: 'Many', markdown: `---\n${front}\n---\n` });
    return propertiesOf(body.page_id);
  };
  const page = await read(`tags: [${many}]\n${many.map((name) => `${name}: 1`).join('\n')}`);
  assert.deepEqual([page.tags.length, page.properties.length], [50, 50]);
  const long = await read(`tags: ["${'x'.repeat(300)}"]\nproperty: "${'y'.repeat(3_000)}"`);
  assert.deepEqual([long.tags[0].length, long.properties[0].value.length], [100, 1_000]);
  const odd = await read(
    'tags: [{a: 1}, [b], *c, "\\0\\uD800x", "", 7, "# "]\nnested: {a: b}\n"": x\nnone:\n__proto__: 1',
  );
  assert.deepEqual(odd.tags, ['\ufffdx', '7']);
  assert.deepEqual(odd.properties, [{ name: '__proto__', value: '1' }]);
});
