import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTest } from '../../../test/extent.ts';
import { sharedWorld } from '../../../test/shared-world.ts';

const world = await sharedWorld();
const owner = await world.owner();

async function newWiki() {
  const { body } = await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Uploads' });
  const at = `/v1/wikis/${body.wiki_id}`;
  const page = async (path: string) => (await owner.get(`${at}/pages/path/${path}`)).body;
  return {
    wiki_id: body.wiki_id as string,
    at,
    page,
    upload: async (files: Record<string, string>): Promise<string> => {
      const upload = await world.upload(owner, body.wiki_id, files);
      assert.equal(upload.body.status, 'completed', JSON.stringify(upload.body));
      return upload.body.summary;
    },
    async edit(path: string, change: Record<string, unknown>) {
      const { page_id, revision } = await page(path);
      const answer = await owner.patch(`${at}/pages/${page_id}`, { base_revision: revision, ...change });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    },
    pages: async () =>
      (await owner.get(`${at}/pages`)).body as { path: string; revision: number; updated_at: string }[],
    quotes: async (path: string) =>
      (await owner.get(`${at}/pages/${(await page(path)).page_id}/citations`)).body
        .filter(({ verified }: { verified: boolean }) => verified)
        .map(({ quote, source_id }: { quote: string; source_id: string }) => [quote, source_id]) as [string, string][],
    history: async (path: string) =>
      (await owner.get(`${at}/pages/${(await page(path)).page_id}/revisions`)).body as { revision: number }[],
  };
}

const GUIDE = '# Guide\n\nFirst of all.\n\nIn the middle.\n\nAt the end.\n';

test('a changed file is merged with edits of its page, and citations cover exactly the blocks of the file', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'guide.md': GUIDE });
  await wiki.edit('guide', { markdown: GUIDE.replace('At the end.', 'At the end, by hand.') });
  const summary = await wiki.upload({ 'guide.md': GUIDE.replace('First', 'See [[Other]] first') });
  assert.match(summary, /1 page merged with manual edits, 1 broken link\. Broken links: guide\.md → \[\[Other\]\]\.$/);
  const page = await wiki.page('guide');
  const text = '# Guide\n\nSee [[Other]] first of all.\n\nIn the middle.\n\nAt the end, by hand.\n';
  assert.deepEqual(
    [page.markdown, page.revision, page.origin, page.stale, page.title, page.source_count],
    [text, 3, 'compiled', false, 'Guide', 1],
  );
  assert.match(page.html, /Other<\/a> first of all/);
  assert.equal(page.description, 'See Other first of all.');
  const quotes = await wiki.quotes('guide');
  assert.deepEqual(
    quotes.map(([quote]) => quote),
    ['Guide', 'See Other first of all.', 'In the middle.'],
    'people are the authors of the block that they wrote',
  );
  const sources = (await owner.get(`${wiki.at}/sources`)).body;
  assert.deepEqual(new Set(quotes.map(([, source_id]) => source_id)), new Set([sources.at(-1).source_id]));
  const hits = (await owner.get(`${wiki.at}/pages/search?query=${encodeURIComponent('"by hand"')}`)).body;
  assert.equal(hits.length, 1);
  await wiki.upload({ 'other.md': '# Other\n' });
  assert.match((await wiki.page('guide')).html, /href="other"/, 'the new link of the file leads to the new page');
});

longTest(
  'what people wrote is kept through any number of uploads, each merged with what the one before it said',
  async () => {
    const wiki = await newWiki();
    await wiki.upload({ 'guide.md': GUIDE });
    await wiki.edit('guide', { markdown: `${GUIDE}\nBy hand.\n` });
    for (const word of ['Second', 'Third', 'Fourth']) {
      assert.match(await wiki.upload({ 'guide.md': GUIDE.replace('First', word) }), /1 page merged/);
      assert.equal((await wiki.page('guide')).markdown, `${GUIDE.replace('First', word)}\nBy hand.\n`);
    }
    const before = await wiki.page('guide');
    assert.doesNotMatch(await wiki.upload({ 'guide.md': GUIDE.replace('First', 'Fourth') }), /merged|updated|left/);
    assert.deepEqual(await wiki.page('guide'), before, 'the same bytes again change nothing');
    assert.match(await wiki.upload({ 'guide.md': GUIDE }), /1 page merged/, 'and back');
    assert.equal((await wiki.page('guide')).markdown, `${GUIDE}\nBy hand.\n`);
    assert.match(await wiki.upload({ 'guide.md': `${GUIDE}\nBy hand.\n` }), /1 file: 1 new source, 0 new pages\.$/);
    assert.equal((await wiki.page('guide')).revision, 6, 'a file equal to the page creates no revision');
    assert.match(await wiki.upload({ 'guide.md': `${GUIDE}\nBy the file.\n` }), /1 page updated/);
    assert.equal((await wiki.page('guide')).markdown, `${GUIDE}\nBy the file.\n`, 'no block is by people any longer');
  },
);

test('saving a page with other line endings changes no line, and changes of its file still merge', async () => {
  const wiki = await newWiki();
  const windows = (text: string) => text.replaceAll('\n', '\r\n');
  await wiki.upload({ 'guide.md': windows(GUIDE) });
  await wiki.edit('guide', { markdown: GUIDE.replace('At the end.', 'At the end, by hand.') });
  const { page_id, revision } = await wiki.page('guide');
  const { body: diff } = await owner.get(`${wiki.at}/pages/${page_id}/revisions/${revision - 1}/diff/${revision}`);
  assert.deepEqual([diff.added, diff.removed], [1, 1], JSON.stringify(diff));
  const summary = await wiki.upload({ 'guide.md': windows(GUIDE.replace('First of', 'First and above')) });
  assert.match(summary, /1 page merged with manual edits/);
  const page = await wiki.page('guide');
  assert.equal(page.markdown, '# Guide\n\nFirst and above all.\n\nIn the middle.\n\nAt the end, by hand.\n');
  assert.equal(page.stale, false);
});

test('a conflict writes nothing, and a resolved conflict is not reported again', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'notes/guide.md': GUIDE, 'notes/other.md': '# Other\n' });
  const byHand = await wiki.edit('notes/guide', { markdown: GUIDE.replace('First', 'By hand first') });
  const changed = GUIDE.replace('First', 'Foremost').replace('At the end', 'In the end');
  const summary = await wiki.upload({ 'notes/guide.md': changed, 'notes/other.md': '# Other\n\nMore.\n' });
  assert.match(
    summary,
    /1 page updated, 1 page left unchanged because of manual edits \(now stale\)\. People and the files/,
  );
  assert.match(
    summary,
    /same places of: notes\/guide \(from notes\/guide\.md\)\. Copy the new text of the file into the page/,
  );
  const [job] = (await owner.get(`${wiki.at}/jobs`)).body.slice(-1);
  assert.equal(job.summary, summary);
  const kept = await wiki.page('notes/guide');
  assert.deepEqual({ ...kept, stale: false }, byHand, 'only the stale mark changes');
  assert.equal(kept.stale, true);
  assert.equal((await wiki.history('notes/guide')).length, 2);
  const later = changed.replace('In the middle', 'Midway');
  assert.match(await wiki.upload({ 'notes/guide.md': later }), /1 page left/, 'the conflict is not resolved yet');
  const settled = later.replace('Foremost', 'By hand foremost');
  assert.equal((await wiki.edit('notes/guide', { markdown: settled })).stale, false);
  assert.doesNotMatch(
    await wiki.upload({ 'notes/guide.md': later }),
    /left|merged|updated/,
    'this edit resolved the conflict',
  );
  assert.match(await wiki.upload({ 'notes/guide.md': `${later}\nNew.\n` }), /1 page merged/);
  const merged = await wiki.page('notes/guide');
  assert.deepEqual([merged.markdown, merged.stale], [`${settled}\nNew.\n`, false]);
});

test('a file that returns to its content before a conflict ends the conflict', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'guide.md': GUIDE });
  await wiki.edit('guide', { markdown: GUIDE.replace('First', 'By hand') });
  await wiki.upload({ 'guide.md': GUIDE.replace('First', 'Foremost') });
  await wiki.upload({ 'guide.md': GUIDE });
  assert.equal((await wiki.page('guide')).stale, false);
  assert.match(await wiki.upload({ 'guide.md': `${GUIDE}\nNew.\n` }), /1 page merged/);
  assert.equal((await wiki.page('guide')).markdown, `${GUIDE.replace('First', 'By hand')}\nNew.\n`);
});

test('an edited title is kept, an unedited title follows the file, and two different changes conflict', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'guide.md': GUIDE });
  await wiki.edit('guide', { title: 'Our guide' });
  assert.match(await wiki.upload({ 'guide.md': `${GUIDE}\nNew.\n` }), /1 page merged/);
  const named = await wiki.page('guide');
  assert.deepEqual([named.title, named.markdown], ['Our guide', `${GUIDE}\nNew.\n`]);
  assert.match(await wiki.upload({ 'guide.md': GUIDE.replace('# Guide', '# Handbook') }), /1 page left/);
  assert.deepEqual({ ...(await wiki.page('guide')), stale: false }, named);
  await wiki.upload({ 'second.md': GUIDE });
  await wiki.edit('second', { markdown: `${GUIDE}\nBy hand.\n` });
  await wiki.upload({ 'second.md': GUIDE.replace('# Guide', '# Handbook') });
  const renamed = await wiki.page('second');
  assert.deepEqual(
    [renamed.title, renamed.markdown],
    ['Handbook', `${GUIDE.replace('# Guide', '# Handbook')}\nBy hand.\n`],
  );
});

test('links of a page that moved after an edit keep their targets, regardless of its file', async () => {
  const wiki = await newWiki();
  const files = {
    'a/guide.md': `${GUIDE}\nSee [other](other.md).\n`,
    'a/other.md': '# Other\n',
    'b/third.md': '# Third\n',
  };
  await wiki.upload(files);
  const text: string = (await wiki.page('a/guide')).markdown;
  await wiki.edit('a/guide', { markdown: text.replace('At the end', 'By hand') });
  const { page_id } = await wiki.page('b');
  await wiki.edit('a/guide', { parent_page_id: page_id });
  const before = await wiki.page('b/guide');
  assert.match(before.html, /href="\.\.\/a\/other"/);
  assert.match(await wiki.upload({ ...files, 'a/guide.md': `New.\n\n${files['a/guide.md']}` }), /1 page left/);
  assert.deepEqual({ ...(await wiki.page('b/guide')), stale: false }, before);
});

test('an upload updates exactly the pages of changed files, even if the pages have moved', async () => {
  const wiki = await newWiki();
  const files: Record<string, string> = {};
  for (let i = 0; i < 20; i += 1) files[`notes/n${i}.md`] = `# Note ${i}\n\nSee [next](n${(i + 1) % 20}.md).\n`;
  await wiki.upload(files);
  await wiki.edit('notes/n3', { slug: 'renamed' });
  const before = new Map((await wiki.pages()).map((page) => [page.path, page]));
  const summary = await wiki.upload({
    ...files,
    'notes/n3.md': `${files['notes/n3.md']}\nNew.\n`,
    'notes/n7.md': '# Another title\n',
  });
  assert.match(
    summary,
    /^20 files: 2 new sources, 18 files already known \(same bytes\), 0 new pages, 2 pages updated\.$/,
  );
  const after = await wiki.pages();
  assert.equal(after.length, 21);
  assert.deepEqual(
    after.filter((page) => JSON.stringify(page) !== JSON.stringify(before.get(page.path))).map(({ path }) => path),
    ['notes/renamed', 'notes/n7'],
  );
  assert.deepEqual(after.map(({ revision }) => revision).sort(), [...Array(19).fill(1), 2, 2], 'and each of them once');
});

test('a file that is uploaded alone links to files of earlier uploads, at their current paths', async () => {
  const wiki = await newWiki();
  const text = '# One\n\nSee [two](two.md#at), [three](sub/three.md) and [none](none.md).\n';
  await wiki.upload({ 'a/one.md': text, 'a/two.md': '# Two\n', 'a/sub/three.md': '# Three\n' });
  const compiled = '# One\n\nSee [two](two#at), [three](sub/three) and [none](none.md).\n';
  assert.equal((await wiki.page('a/one')).markdown, compiled);
  assert.match(
    await wiki.upload({ 'a/one.md': `${text}\nMore.\n` }),
    /1 page updated, 1 broken link\. Broken links: a\/one\.md:3 → none\.md\.$/,
  );
  assert.equal((await wiki.page('a/one')).markdown, `${compiled}\nMore.\n`);
  await wiki.edit('a/two', { slug: 'second' });
  await wiki.edit('a/one', { markdown: `By hand.\n\n${(await wiki.page('a/one')).markdown}` });
  assert.match(await wiki.upload({ 'a/one.md': `${text}\nMore of it.\n` }), /1 page merged/);
  assert.equal(
    (await wiki.page('a/one')).markdown,
    `By hand.\n\n${compiled.replace('two#at', 'second#at')}\nMore of it.\n`,
  );
});

longTest('no edit made during uploads is lost, and no upload needs a retry', async () => {
  const wiki = await newWiki();
  await wiki.upload({ 'guide.md': GUIDE });
  const saved: string[] = [];
  async function save(line: string): Promise<void> {
    const { page_id, markdown, revision } = await wiki.page('guide');
    const change = { markdown: `${markdown}\n${line}\n`, base_revision: revision };
    const { status } = await owner.patch(`${wiki.at}/pages/${page_id}`, change);
    if (status === 200) saved.push(line);
    else {
      assert.equal(status, 409);
      await save(line);
    }
  }
  for (let i = 0; i < 8; i += 1) {
    const people = (async () => {
      for (let line = 0; line < 6; line += 1) await save(`By hand ${i}.${line}.`);
    })();
    const summary = await wiki.upload({ 'guide.md': GUIDE.replace('First', `Number ${i}`) });
    await people;
    assert.match(summary, i === 0 ? /1 page (merged|updated)/ : /1 page merged/);
  }
  const page = await wiki.page('guide');
  assert.equal(page.markdown, [GUIDE.replace('First', 'Number 7'), ...saved.map((line) => `${line}\n`)].join('\n'));
  assert.equal(saved.length, 48);
  const revisions = (await owner.get(`${wiki.at}/pages/${page.page_id}/revisions?limit=500`)).body;
  assert.deepEqual([revisions.length, page.revision], [57, 57]);
  const jobs = (await owner.get(`${wiki.at}/jobs`)).body;
  assert.deepEqual(new Set(jobs.map(({ attempt }: { attempt: number }) => attempt)), new Set([1]));
});
