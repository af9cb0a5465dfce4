import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announce, patch } from '../../../test/resumable.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { waitForUpload } from '../../../test/world.ts';
import { zipOf } from '../../../test/zip.ts';

const world = await sharedWorld();
const owner = await world.owner();

async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Ordered' });
  const at = `/v1/wikis/${body.wiki_id}`;
  return { wiki_id: body.wiki_id as string, at, tree: () => treeOf(at) };
}

async function treeOf(at: string): Promise<string[]> {
  const { body } = await owner.get(`${at}/tree`);
  const below = Map.groupBy(
    body as { page_id: string; parent_page_id: string; slug: string }[],
    (p) => p.parent_page_id,
  );
  const walk = (parent: string, path: string): string[] =>
    (below.get(parent) ?? []).flatMap(({ page_id, slug }) => [path + slug, ...walk(page_id, `${path}${slug}/`)]);
  return walk('', '');
}

/** Every folder orders z, m, a by another method; b is not listed. */
const page = (name: string, fields = '') => `${fields}# ${name}\n`;
const named = (folder: string) =>
  Object.fromEntries(['a', 'b', 'm', 'z'].map((name) => [`${folder}/${name}.md`, page(name)]));
const weighed = (folder: string, field: string) => ({
  [`${folder}/a.md`]: page('a', `---\n${field}: 10\n---\n`),
  [`${folder}/b.md`]: page('b'),
  [`${folder}/m.md`]: page('m', `---\n${field}: 2\n---\n`),
  [`${folder}/z.md`]: page('z', `---\ntitle: é${'x'.repeat(20)}\n${field}: 1\n---\n${'é'.repeat(5_000)}\n`),
});

const FOLDER: Record<string, string> = {
  'set/README.md': '# Set\n\nAll chapters: [the summary](book/SUMMARY.md)\n',
  'set/.order': 'weights\r\nbook\r\n',
  ...named('set/azure'),
  'set/azure/.order': 'z\nm\na\nmissing\n',
  ...named('set/book'),
  'set/book/SUMMARY.md': '# Summary\n\n* [Z](z.md)\n  * [M](m.md)\n* [A](a.md)\n',
  ...named('set/docsify'),
  'set/docsify/_sidebar.md': '* Group\n  * [Z](/docsify/z)\n  * [M](m.md ":ignore")\n* [A](/docsify/a)\n',
  ...named('set/mkdocs/docs'),
  'set/mkdocs/mkdocs.yml': 'site_name: X\nnav:\n- Z: z.md\n- More: [m.md, a.md]\n',
  ...named('set/ms'),
  'set/ms/toc.yml': '- name: Z\n  href: z.md\n  items:\n  - {name: M, href: m.md}\n- {name: A, href: a.md}\n',
  ...weighed('set/weights/hugo', 'weight'),
  ...weighed('set/weights/jekyll', 'nav_order'),
  ...weighed('set/weights/saurus', 'sidebar_position'),
  'set/weights/saurus/_category_.json': '{ "label": "Docusaurus", "position": 1 }',
};

const ORDERED = ['z', 'm', 'a', 'b'];
const TREE = [
  'set',
  'set/weights',
  ...['saurus', 'hugo', 'jekyll'].flatMap((name) => [
    `set/weights/${name}`,
    ...ORDERED.map((p) => `set/weights/${name}/${p}`),
  ]),
  'set/book',
  ...ORDERED.map((p) => `set/book/${p}`),
  'set/azure',
  ...ORDERED.map((p) => `set/azure/${p}`),
  'set/docsify',
  ...ORDERED.map((p) => `set/docsify/${p}`),
  'set/mkdocs',
  'set/mkdocs/docs',
  ...ORDERED.map((p) => `set/mkdocs/docs/${p}`),
  'set/ms',
  ...ORDERED.map((p) => `set/ms/${p}`),
];

test('pages follow the order files of their author, for every kind of order file and of upload', async () => {
  const byZip = await newWiki();
  const zip = zipOf([...Object.entries(FOLDER), ['set/.hidden', 'x']]);
  const { body: packed } = await world.upload(owner, byZip.wiki_id, { 'all.zip': zip });
  assert.match(packed.summary, /, 7 files used for the order, 1 hidden file left out \(set\/\.hidden\) of all\.zip\.$/);
  assert.deepEqual(await byZip.tree(), TREE);

  const { body: set } = await owner.get(`${byZip.at}/pages/path/set`);
  const { body: attached } = await owner.get(`${byZip.at}/pages/${set.page_id}/attachments`);
  assert.deepEqual(
    attached.map((file: { filename: string; content_type: string }) => [file.filename, file.content_type]),
    [['SUMMARY.md', 'text/plain; charset=utf-8']],
    'an order file is still available to links',
  );

  const byTus = await newWiki();
  const azure = Object.entries(FOLDER).filter(([name]) => name.startsWith('set/azure/'));
  const contents = Object.fromEntries(azure.map(([name, text]) => [name, Buffer.from(text)]));
  const upload = await announce(owner, byTus.wiki_id, contents);
  for (const { path, content } of upload.files) assert.equal((await patch(owner, path, 0, content)).status, 204);
  assert.equal((await owner.post(`${upload.path}/complete`)).status, 200);
  const { body: sent } = await waitForUpload(owner, byTus.wiki_id, upload.upload_id);
  assert.match(sent.summary, /, 1 file used for the order\.$/);
  assert.deepEqual(
    await byTus.tree(),
    TREE.filter((path) => /^set(?:\/azure.*)?$/.test(path)),
  );
});

test('an unusable order file is ignored and named, and a text with such a name becomes a page', async () => {
  const wiki = await newWiki();
  const files = {
    'a.md': '# A\n',
    'b.md': '# B\n',
    '.order': 'nothing\nthat is here\n',
    'toc.yml': '- href: [b.md\n',
    'x/mkdocs.yml': 'nav: [https://example.com, ../b.md]\n',
    'x/SUMMARY.md': '# We won\n\nBy far.\n\n* [B](../b.md)\n',
    'big/toc.yml': `- href: ../b.md\n${'#'.repeat(200_000)}\n`,
  };
  const { body } = await world.upload(owner, wiki.wiki_id, files);
  assert.equal(body.status, 'completed');
  assert.match(
    body.summary,
    /, 4 order files ignored\. Order files ignored: \.order; toc\.yml; x\/mkdocs\.yml; big\/toc\.yml\.$/,
  );
  assert.deepEqual(await wiki.tree(), ['a', 'b', 'big', 'big/toc', 'toc', 'x', 'x/mkdocs', 'x/summary']);
});

test('a repeated upload keeps positions that users set, and inserts new pages in order', async () => {
  const wiki = await newWiki();
  const chapters = ['1/x.md', '2/x.md', '3/x.md', '4.md', '6.md'];
  const files = {
    ...Object.fromEntries(chapters.map((name) => [name, '# X\n'])),
    'd/a.md': '# A\n',
    'd/c.md': '# C\n',
    'd/.order': 'c\na\n',
  };
  await world.upload(owner, wiki.wiki_id, files);
  assert.deepEqual(await wiki.tree(), ['1', '1/x', '2', '2/x', '3', '3/x', '4', '6', 'd', 'd/c', 'd/a']);
  const { body: c } = await owner.get(`${wiki.at}/pages/path/d/c`);
  await owner.patch(`${wiki.at}/pages/${c.page_id}`, { base_revision: c.revision, position: 100 });
  const again = { ...files, '0.md': '# 0\n', '5.md': '# 5\n', 'd/b.md': '# B\n', 'd/.order': 'a\nb\nc\n' };
  const { body } = await world.upload(owner, wiki.wiki_id, again);
  assert.match(body.summary, /, 3 new pages, 1 file used for the order\.$/);
  // The first position was taken, and stays with its page.
  assert.deepEqual(await wiki.tree(), [
    '1',
    '1/x',
    '0',
    '2',
    '2/x',
    '3',
    '3/x',
    '4',
    '5',
    '6',
    'd',
    'd/a',
    'd/b',
    'd/c',
  ]);
});
