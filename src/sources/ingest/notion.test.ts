import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { png } from '../../../test/pictures.ts';
import { sharedWorld } from '../../../test/shared-world.ts';
import { zipOf } from '../../../test/zip.ts';

const world = await sharedWorld();
const owner = await world.owner();
const newWiki = () => newFolderWiki(owner);
const id = (digit: string) => digit.repeat(32);
const TASKS = `Team ${id('1')}/Tasks ${id('3')}`;
const MILK = `${TASKS}/Buy milk now ${id('4')}.md`;
const LONG = 'A very long title of a row that Notion cuts somewhere behind';

/** A page with a subpage and a database, as Notion exports them. */
const FILES: [string, string | Uint8Array][] = [
  [
    `Team ${id('1')}.md`,
    `# Team\n\n[Sub](Team%20${id('1')}/Sub%20${id('2')}.md)\n\n[Tasks](Team%20${id('1')}/Tasks%20${id('3')}.csv)\n`,
  ],
  [`Team ${id('1')}/Sub ${id('2')}.md`, `# Sub\n\n![p](Sub%20${id('2')}/p.png)\n`],
  [`Team ${id('1')}/Sub ${id('2')}/p.png`, png()],
  [`${TASKS}.csv`, '\ufeffName,Done\n"Buy milk, now",Yes\n'],
  [`${TASKS}_all.csv`, `\ufeffName,Done\n"Buy milk, now",Yes\n${LONG} fifty letters,No\nNo page,No\n`],
  [MILK, '# Buy milk, now\n\nDone: Yes\n'],
  [`${TASKS}/${LONG.slice(0, 50)} ${id('5')}.md`, `# ${LONG} fifty letters\n`],
];

const PATHS = [
  'team',
  'team/sub',
  'team/tasks',
  'team/tasks/a-very-long-title-of-a-row-that-notion-cuts-some',
  'team/tasks/buy-milk-now',
];

test('the parts of a Notion export in one archive form one tree, without ids in paths and titles', async () => {
  const wiki = await newWiki();
  const parts = [FILES.slice(0, 3), FILES.slice(3)].map(
    (part, i) => [`ExportBlock-${id('a').slice(0, 8)}-Part-${i + 1}.zip`, zipOf(part)] as const,
  );
  const { summary, status } = await wiki.add({ 'Export.zip': zipOf(parts) });
  assert.equal(status, 'completed', summary);
  assert.deepEqual(await wiki.paths(), PATHS);
  assert.match(summary, /1 partial table left out/);
  assert.doesNotMatch(summary, /failed|broken/);
  const titles = (await wiki.pages()).map(({ title }) => title).sort();
  assert.deepEqual(titles, [`${LONG} fifty letters`, 'Buy milk, now', 'Sub', 'Tasks', 'Team']);
  const team = await wiki.page('team');
  assert.match(team.html, /href="team\/sub".*href="team\/tasks"/s);
});

test('the rows of a Notion database link to their pages', async () => {
  const wiki = await newWiki();
  await wiki.add({ 'all.zip': zipOf(FILES) });
  const { html, citations } = await wiki.page('team/tasks');
  assert.match(html, /<a href="tasks\/buy-milk-now">Buy milk, now<\/a>/);
  assert.match(html, /<a href="tasks\/a-very-long[^"]*">A very long .* fifty letters<\/a>/);
  assert.match(html, /<td>No page<\/td>/);
  const { body } = await owner.get(`${wiki.at}/sources/${citations[0].source_id}/verification`);
  assert.deepEqual(body.findings, []);
  const again = await wiki.add({ 'all.zip': zipOf(FILES) });
  assert.match(again.summary, /0 new pages/);
  assert.doesNotMatch(again.summary, /updated/);
});

test('folders without ids and the top folder of older exports are accepted', async () => {
  const wiki = await newWiki();
  const named = FILES.map(([name, content]) => {
    const short = name.replace(/ [0-9a-f]{32}(?=\/)/g, '');
    const text = typeof content === 'string' ? content.replace(/%20[0-9a-f]{32}(?=\/)/g, '') : content;
    return [`Export-01234567-89ab-cdef-0123-456789abcdef/${short}`, text] as const;
  });
  const { summary } = await wiki.add({ 'Export.zip': zipOf(named) });
  assert.deepEqual(await wiki.paths(), PATHS, summary);
  assert.doesNotMatch(summary, /broken/);
});

test('archives among other files stay packed, and nested archives are unpacked one level deep', async () => {
  const wiki = await newWiki();
  const inner = zipOf([['x.md', '# X\n']]);
  const mixed = await wiki.add({
    'mixed.zip': zipOf([
      ['a.md', '# A\n'],
      ['inner.zip', inner],
    ]),
  });
  assert.match(mixed.summary, /inner\.zip/);
  assert.deepEqual(await wiki.paths(), ['a']);
  const deep = await wiki.add({ 'deep.zip': zipOf([['two.zip', zipOf([['three.zip', inner]])]]) });
  assert.equal(deep.status, 'failed');
  const several = await wiki.add({
    's.zip': zipOf([
      ['one.zip', inner],
      ['two.zip', zipOf([['y.md', '# Y\n']])],
    ]),
  });
  assert.equal(several.status, 'completed');
  assert.deepEqual(await wiki.paths(), ['a', 'one', 'one/x', 'two', 'two/y']);
});

test('an archive with a broken and an intact archive names the broken one', async () => {
  const wiki = await newWiki();
  const sound = zipOf([['x.md', '# X\n']]);
  const { status, summary } = await wiki.add({
    'e.zip': zipOf([
      ['E-Part-1.zip', sound],
      ['E-Part-2.zip', sound.subarray(0, 60)],
    ]),
  });
  assert.equal(status, 'completed');
  assert.match(summary, /1 file failed\. Failed: E-Part-2\.zip \(/);
  assert.deepEqual(await wiki.paths(), ['x']);
});
