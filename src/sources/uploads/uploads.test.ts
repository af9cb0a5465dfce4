import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { sql } from '../../platform/db/sql.ts';

const world = await sharedWorld();

test('a folder of Markdown becomes pages whose paths mirror the folders and whose links connect them', async () => {
  const owner = await world.owner();
  const upload = await world.upload(owner, owner.wiki_id, {
    'guide/README.md': '# The guide\n\nStart with [setup](setup.md#first) or [the top](../welcome.md).\n',
    'guide/setup.md': '---\ntitle: Set up\n---\n# Something else\n\nBack to [the guide](./README.md).\n',
    'guide/deep/er.txt': 'Only text <script>alert(1)</script>',
    'welcome.md': 'No heading, see [setup](guide/setup.md) and [elsewhere](missing.md).\n',
  });
  assert.equal(upload.body.status, 'completed');
  assert.equal(upload.body.source_count, 4);
  assert.equal(
    upload.body.summary,
    '4 files: 4 new sources, 5 new pages, 1 broken link. Broken links: welcome.md:1 → missing.md.',
  );
  const { body: pages } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages`);
  const paths = Object.fromEntries(pages.map((page: { path: string; title: string }) => [page.path, page.title]));
  assert.deepEqual(paths, {
    guide: 'The guide',
    'guide/setup': 'Set up',
    'guide/deep': 'deep',
    'guide/deep/er': 'er',
    welcome: 'welcome',
  });
  const guide = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/guide`);
  assert.equal(guide.body.markdown, '# The guide\n\nStart with [setup](guide/setup#first) or [the top](welcome).\n');
  const setup = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/guide/setup`);
  assert.equal(setup.body.parent_page_id, guide.body.page_id);
  assert.match(setup.body.html, /<a href="\.\.\/guide">the guide<\/a>/);
  const text = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/guide/deep/er`);
  assert.ok(!text.body.html.includes('<script'), 'a script of a text file must be shown, never run');
});

longTest('files of any content arrive unchanged, however many of them one chunk of the body contains', async () => {
  const owner = await world.owner();
  // The files contain the delimiter of multipart bodies.
  const texts = Array.from({ length: 120 }, (_, i) => `# Page ${i}\n\n${'a\r\n--b\r\n\r\n--'.repeat(i % 50)}${i}`);
  const upload = await world.upload(
    owner,
    owner.wiki_id,
    Object.fromEntries(texts.map((text, i) => [`p${i}.md`, text])),
  );
  assert.equal(upload.body.source_count, texts.length);
  const rows = await world.db.query<{ filename: string; sha256: string }>(sql`
    select filename, sha256 from upload_files where upload_id = ${upload.body.upload_id}`);
  assert.deepEqual(
    Object.fromEntries(rows.map(({ filename, sha256 }) => [filename, sha256])),
    Object.fromEntries(texts.map((text, i) => [`p${i}.md`, hash('sha256', text)])),
  );
});
