import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();

test('the summary counts markup of other tools that pages show verbatim, outside of code', async () => {
  const wiki = await newFolderWiki(owner);
  const { summary } = await wiki.add({
    'a.md': '# A\n\n{% unknown %}\n\ntext {% other %} and {{query (done)}}\n\n`{% code %}`\n\n```\n{{ x }} :::\n```\n',
    'b.md': '# B\n\n- see ((64906131-f9a2-46c5-bb5f-eddf3043817b)) and f((x))\n',
    'c.md': '# C\n\nNothing (here), {not} :: this\n',
  });
  assert.match(
    summary,
    / Unsupported syntax, shown as written: 2 × \{% … %\}, 1 × \{\{ … \}\}, 1 × \(\(id\)\) on 2 pages: a\.md; b\.md\.$/,
  );
  const again = await wiki.add({ 'c.md': '# C\n\nStill nothing\n' });
  assert.doesNotMatch(again.summary, /Unsupported syntax/);
});

test('the summary names files of other tools that became plain text', async () => {
  const wiki = await newFolderWiki(owner);
  const { summary } = await wiki.add({
    'a.rst': 'Title\n=====\n\ntext\n',
    'notes.org': '* Heading\n',
    'x.enex': '<?xml version="1.0"?><en-export><note/></en-export>\n',
    'site.css': 'a { color: red }\n',
    'plain.txt': 'text\n',
    'b.md': '# B\n',
  });
  assert.match(summary, / Read as plain text: a\.rst; notes\.org; x\.enex; site\.css\.$/);
});
