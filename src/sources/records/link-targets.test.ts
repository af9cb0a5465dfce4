import assert from 'node:assert/strict';
import { test } from 'node:test';
import { png } from '../../../test/pictures.ts';
import { verificationOf } from '../../../test/verification-of.ts';
import { openWorld } from '../../../test/world.ts';

const world = await openWorld();

interface Cited {
  quote: string;
  verified: boolean;
  context: string;
  context_changes: string[];
  source_id: string;
}

async function linkedWiki() {
  const owner = await world.owner();
  const at = `/v1/wikis/${owner.wiki_id}`;
  await world.upload(owner, owner.wiki_id, {
    'guide/a.md':
      '# A\n\nSee [the rules](b.md#rules), [[c|more]] and [a site](https://example.com/a).\n\n## Steps\n\n1. Open it\n2. Close it\n\n![A plan](p.png)\n',
    'guide/b.md': '# B\n\n## Rules\n\nNone.\n',
    'guide/c.md': '# C\n\nMore.\n',
    'guide/p.png': png(),
    'guide/q.md': '# Q\n\n![Another](q.png)\n',
    'guide/q.png': png({ width: 3 }),
  });
  const page = async (path: string) => (await owner.get(`${at}/pages/path/${path}`)).body;
  const { page_id } = await page('guide/a');
  const cited = async (): Promise<Cited[]> => (await owner.get(`${at}/pages/${page_id}/citations`)).body;
  const write = async (change: (markdown: string) => string) => {
    const { markdown, revision } = await page((await owner.get(`${at}/pages/${page_id}`)).body.path);
    const edited = change(markdown);
    assert.notEqual(edited, markdown);
    const { status } = await owner.patch(`${at}/pages/${page_id}`, { markdown: edited, base_revision: revision });
    assert.equal(status, 200);
  };
  const tick = async (words: string) => {
    const found = (await cited()).find(({ quote }) => quote.startsWith(words));
    return found && `${found.verified} ${found.context} ${found.context_changes}`;
  };
  return { owner, at, page, page_id, cited, write, tick };
}

test('an unedited page and its source are verified with full context, links and pictures', async () => {
  const { owner, at, cited } = await linkedWiki();
  const all = await cited();
  assert.equal(all.length, 6);
  for (const { verified, context, quote } of all) assert.deepEqual([verified, context], [true, 'same'], quote);
  const found = await verificationOf(owner, `${at}/sources/${all[0]?.source_id}`);
  assert.deepEqual([found.findings, found.verified, found.in_other_context], [[], 6, 0]);
});

test('a block stays verified when the pages it links to move, even after an edit', async () => {
  const { owner, at, page, page_id, write, tick } = await linkedWiki();
  const { page_id: target } = await page('guide/b');
  const moved = await owner.patch(`${at}/pages/${target}`, { slug: 'other' });
  assert.equal(moved.status, 200);
  assert.equal(await tick('See'), 'true same ');
  await write((markdown) => `${markdown}\nMore words.\n`);
  assert.equal(await tick('See'), 'true same ', 'with the new address in its text');
  const own = await owner.patch(`${at}/pages/${page_id}`, { parent_page_id: '' });
  assert.equal(own.status, 200);
  assert.equal(await tick('See'), 'true same ', 'the page itself moved');
  await write((markdown) => `${markdown}\nAnd more.\n`);
  assert.equal(await tick('See'), 'true same ');
  assert.equal(await tick('A plan'), 'true same ');
});

test('another link target or picture unverifies only its own block', async () => {
  const { owner, at, page, write, tick } = await linkedWiki();
  const { page_id } = await page('guide/q');
  const [other] = (await owner.get(`${at}/pages/${page_id}/attachments`)).body;
  for (const [words, from, to] of [
    ['See', 'b#rules', 'c'],
    ['See', 'b#rules', 'b#else'],
    ['See', 'https://example.com/a', 'https://evil.example/a'],
    ['See', '[[c|more]]', '[[b|more]]'],
    ['A plan', /attachment_\w+/, other.attachment_id],
  ] as const) {
    let before = '';
    await write((markdown) => {
      before = markdown;
      return markdown.replace(from, to);
    });
    assert.match((await tick(words)) ?? '', /^false unknown/, `${from} → ${to}`);
    assert.equal(await tick('Open it'), 'true same ');
    await write(() => before);
    assert.equal(await tick(words), 'true same ', 'as it was');
  }
});

test('a block in another context keeps half a tick, which verification counts', async () => {
  const { owner, at, cited, write, tick } = await linkedWiki();
  await write((markdown) =>
    markdown.replace('## Steps', '## Never').replace(/1\. (Open it)\n2\. (Close it)/, '1. $2\n2. $1'),
  );
  assert.equal(await tick('Open it'), 'true changed headings,place');
  assert.equal(await tick('A plan'), 'true changed headings');
  assert.equal(await tick('See'), 'true same ');
  const [{ source_id = '' } = {}] = await cited();
  const found = await verificationOf(owner, `${at}/sources/${source_id}`);
  assert.deepEqual([found.findings, found.verified, found.edited, found.in_other_context], [[], 5, 1, 3]);
});
