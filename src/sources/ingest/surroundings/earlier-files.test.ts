import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedWorld } from '../../../../test/shared-world.ts';
import type { Query } from '../../../platform/db/db.ts';
import { sql } from '../../../platform/db/sql.ts';
import { openFilesAround } from './files-around.ts';

const world = await sharedWorld();
const owner = await world.owner();
const OTHERS = 10_000;
const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR logo', 'latin1');

/** A wiki with a few files of an earlier upload to link to, and many others. */
async function wikiOfManyFiles() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Files' });
  const wiki_id: string = body.wiki_id;
  const upload = async (files: Record<string, string | Uint8Array>) =>
    (await world.upload(owner, wiki_id, files)).body.upload_id as string;
  const earlier = await upload({
    'Guide/Setup.md': '# Setup\n\n![](../img/Logo.png)\n',
    'Guide/Bücher.md': '# Bücher\n',
    'img/Logo.png': PNG,
  });
  await world.db.query(sql`
    insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
    select ${wiki_id}, ${wiki_id} || n, 'p' || n, 'p' || n, 'P', 'compiled', 1, 1, 'user_x', 'user_x' from generate_series(1, ${OTHERS}) n`);
  await world.db.query(sql`
    insert into upload_files (wiki_id, upload_id, file_no, filename, content_type, byte_size, sha256, status, page_path, page_id)
    select ${wiki_id}, ${earlier}, n + 100, 'others/p' || n || '.md', 'text/markdown', 5, 'x', 'done', 'p' || n, ${wiki_id} || n
    from generate_series(1, ${OTHERS}) n`);
  const markdown = async (path: string) =>
    (await owner.get(`/v1/wikis/${wiki_id}/pages/path/${path}`)).body.markdown as string;
  return { wiki_id, upload, markdown };
}

test('a text uploaded alone links to files of earlier uploads, however their names are spelled', async () => {
  const { upload, markdown } = await wikiOfManyFiles();
  const links = [
    'setup.md',
    'SETUP.md',
    'B\u0075\u0308cher.md',
    'BÜCHER.md',
    '../others/p7.md',
    'missing.md',
    '/guide/setup',
  ];
  await upload({
    'Guide/New.md': `# New\n\n${links.map((link) => `[x](${link})`).join('\n')}\n\n![](../img/logo.PNG)\n\n![[logo.png]]\n`,
  });
  const text = await markdown('guide/new');
  assert.deepEqual(text.match(/(?<=\[x\]\()[^)]*/g), [
    'setup',
    'setup',
    'bucher',
    'bucher',
    '../p7',
    'missing.md',
    'setup',
  ]);
  assert.equal(text.match(/!\[[^\]]*\]\(attachment:attachment_/g)?.length, 2);
});

test('in a wiki of 10,000 files, resolving a few references reads only the files they may mean', async () => {
  const { wiki_id } = await wikiOfManyFiles();
  let rows = 0;
  const query: Query = async (statement) => {
    const found = await world.db.query(statement);
    rows += found.length;
    return found as never;
  };
  const upload = { wiki_id, upload_id: 'upload_x' };
  const around = await openFilesAround(query, upload, new Map([['a.md', 'a']]), null);
  await around.include([
    {
      file: { filename: 'a.md', page_path: 'a' },
      references: ['guide/setup.md', 'others/P9.md', '[[logo.png', 'none.md'],
    },
  ]);
  assert.deepEqual([...around.known().pages.keys()].sort(), [
    '/Guide/Setup.md',
    '/img/Logo.png',
    '/others/p9.md',
    'a.md',
  ]);
  assert.equal(rows, 3);
  const planned = new Map(Array.from({ length: 21 }, (_, i) => [`${i}.md`, `${i}`]));
  await openFilesAround(query, upload, planned, null);
  assert.ok(rows > OTHERS, 'an upload of many files may refer to any file');
});
