import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFolderWiki } from '../../test/folder-wiki.ts';
import { sharedWorld } from '../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();

test('wiki links lead to a page of the upload by the other names that its text gives it', async () => {
  const wiki = await newFolderWiki(owner);
  const files = {
    'V/notes/Long name.md': '---\naliases: [Short, Both]\n---\ntext\n',
    'V/pages/A.md': 'alias:: Kurz\n\n- First\n',
    'V/Both.md': '# Both\n',
    'V/Home.md': '# Home\n\n[[Short]] [[short|words]] [[Kurz]] [[Both]] [[None]]\n',
  };
  const { summary } = await wiki.add(files);
  assert.match(summary, /1 broken link\b/);
  const { html } = await wiki.page('v/home');
  const hrefs = [...html.matchAll(/class="wiki" href="([^"]*)"/g)].map(([, href]) => href);
  assert.deepEqual(hrefs, ['notes/long-name', 'notes/long-name', 'pages/a', 'both']);
  const again = await wiki.add(files);
  assert.doesNotMatch(again.summary, /updated|[1-9] new page/);
  assert.deepEqual(await wiki.paths(), [
    'v',
    'v/both',
    'v/home',
    'v/notes',
    'v/notes/long-name',
    'v/pages',
    'v/pages/a',
  ]);
});

test('a file that cannot be read makes no page, although another text has its name', async () => {
  const wiki = await newFolderWiki(owner);
  const broken = Buffer.concat([
    Buffer.from('---\naliases: [Short]\n---\ntext\n'),
    Buffer.alloc(5_000, 'x\n'),
    Buffer.from([0xff, 0]),
  ]);
  await wiki.add({ 'V/broken.md': broken, 'V/Home.md': '# Home\n\n[[Short]]\n' });
  assert.deepEqual(await wiki.paths(), ['v', 'v/home']);
});
