import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { until } from '../../test/until.ts';
import { type Client, corpus, openWorld } from '../../test/world.ts';
import { sql } from '../db/sql.ts';
import { mergePending } from '../search/index/merge-pending.ts';

/** Queries of any characters, and edits by eight people; SEARCH_RUNS=100000 is the long form. */
const RUNS = Number(process.env.SEARCH_RUNS ?? 100);
const PAGES = RUNS > 1_000 ? 600 : 100;
const naughty: string[] = createRequire(import.meta.url)('big-list-of-naughty-strings');

const world = await openWorld();

async function newWiki() {
  const owner = await world.owner();
  const wiki = `/v1/wikis/${owner.wiki_id}`;
  const create = async (title: string, markdown: string, more: object = {}) =>
    (await owner.post(`${wiki}/pages`, { title, markdown, ...more })).body;
  const ask = async (what: string, query: string, by: Client = owner) =>
    (await by.get(`${wiki}/${what}${what.includes('?') ? '&' : '?'}query=${encodeURIComponent(query)}`)).body;
  const titles = async (query: string, by: Client = owner): Promise<string[]> =>
    (await ask('pages/search', query, by)).map(({ title }: { title: string }) => title);
  const fold = async () => {
    while ((await mergePending(world.db, owner.wiki_id, 'page', 'wait')) > 0);
  };
  /** Writes as an editor who has just read the page. */
  const edit = async (page_id: string, change: object) => {
    const path = `${wiki}/pages/${page_id}`;
    const { status, body } = await owner.patch(path, {
      ...change,
      base_revision: (await owner.get(path)).body.revision,
    });
    assert.equal(status, 200, JSON.stringify(body));
  };
  return { owner, wiki, create, edit, ask, titles, fold };
}

test('an edited page is found by its new words and not by its removed ones in the next request, folded or not', async () => {
  const { create, edit, titles, fold } = await newWiki();
  const { page_id } = await create('Fruit', 'round0 apples');
  for (let i = 1; i <= 12; i += 1) {
    if (i % 3 === 0) await fold();
    await edit(page_id, { markdown: `round${i} apples` });
    assert.deepEqual(await titles(`round${i}`), ['Fruit']);
    assert.deepEqual(await titles(`"round${i - 1}"`), []);
    await edit(page_id, { title: `Fruit named${i}` });
    assert.deepEqual(await titles(`title:named${i}`), [`Fruit named${i}`]);
    assert.deepEqual(await titles(`title:named${i - 1}`), []);
    assert.deepEqual(await titles('apples'), [`Fruit named${i}`], 'a new title leaves the words of the text');
    await edit(page_id, { title: 'Fruit' });
  }
});

test('a word whose postings are cached is found where it is now, and only there', async () => {
  const { owner, wiki, edit, titles, fold } = await newWiki();
  // 1,366 postings are 4 KiB; straight into the tables, since making that many pages one by one takes long.
  await world.db.query(sql`
    with made as (
      insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
      select ${owner.wiki_id}, ${owner.wiki_id} || n, 'p' || n, 'p' || n, 'Page ' || n, 'authored', 1, 2, 'user_a', 'user_a'
      from generate_series(1, 1500) n returning wiki_id, page_id, title
    ), revised as (
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select wiki_id, page_id, 1, title, 'common ' || replace(title, ' ', ''), '', '[]', 'user_a' from made
    ), texts as (
      insert into page_texts (wiki_id, page_id, text) select wiki_id, page_id, 'common ' || replace(title, ' ', '') from made
    )
    insert into search_pending (wiki_id, kind, document_id, version) select wiki_id, 'page', page_id, 1 from made`);
  await fold();
  for (const title of ['Page 7', 'Page 1400']) {
    const word = title.replace(' ', '').toLowerCase();
    const page_id = owner.wiki_id + title.slice(5);
    const isFoundBy = async (query: string) => (await titles(`${query} ${word}`))[0] === title;
    const found = async () => [await isFoundBy('"common"'), await isFoundBy('-common')];
    assert.deepEqual(await found(), [true, false]);
    assert.deepEqual(await found(), [true, false], 'from what was kept');
    await edit(page_id, { markdown: `unusual ${word}` });
    assert.deepEqual(await found(), [false, true], 'before it is folded');
    await fold();
    assert.deepEqual(await found(), [false, true]);
    await edit(page_id, { markdown: `common ${word}` });
    await fold();
    assert.deepEqual(await found(), [true, false]);
  }
  const stranger = await world.owner();
  assert.equal((await stranger.get(`${wiki}/pages/search?query=common`)).status, 403);
});

test('eight editors of one wiki never block each other, while the index is folded, and all they wrote is found', async () => {
  const { create, edit, titles, fold } = await newWiki();
  const pages: string[] = [];
  for (let i = 0; i < 8; i += 1) pages.push((await create(`Page ${i}`, 'begin')).page_id);
  const editing = new AbortController();
  const folding = (async () => {
    while (!editing.signal.aborted) await fold();
  })();
  const shared = Array.from({ length: 60 }, (_, i) => `common${i}`);
  await Promise.all(
    pages.map(async (page_id, editor) => {
      for (let round = 0; round < 10; round += 1) {
        const markdown = `${shared.toSorted(() => (editor + round) % 2 || -1).join(' ')} editor${editor}round${round}`;
        await edit(page_id, { markdown });
      }
    }),
  ).finally(() => editing.abort());
  await folding;
  for (let editor = 0; editor < 8; editor += 1) {
    assert.deepEqual(await titles(`"editor${editor}round9"`), [`Page ${editor}`]);
    assert.deepEqual(await titles(`"editor${editor}round8"`), []);
  }
  assert.equal((await titles('common7')).length, 8);
});

test('any text of 1 to 1,024 characters is a query, and a text to suggest for', async () => {
  const { owner, wiki, create } = await newWiki();
  for (const [i, text] of naughty.slice(0, 60).entries()) await create(`Naughty ${i}`, text);
  const check = async (text: string) => {
    for (const what of ['pages/search', 'sources/search', 'suggest']) {
      const answer = await owner.get(`${wiki}/${what}?query=${encodeURIComponent(text)}`);
      const expected = text.includes('\0') ? 400 : 200;
      assert.equal(
        answer.status,
        expected,
        `${what} of ${JSON.stringify(text)}: ${JSON.stringify(answer.body).slice(0, 300)}`,
      );
    }
  };
  for (const text of naughty) if (text !== '') await check([...text].slice(0, 1_024).join('').toWellFormed());
  const part = fc.constantFrom('"', '-', 'title:', ' ', 'a', '検', '^', '%', "'", '\\', ':', '\u0301', '😀', '1', 'ß');
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1_024 }).filter((value) => value.isWellFormed()),
    fc.array(part, { minLength: 1, maxLength: 100 }).map((parts) => parts.join('')),
  );
  await fc.assert(
    fc.asyncProperty(
      text.filter((value) => value.length <= 1_024),
      check,
    ),
    { numRuns: RUNS },
  );
});

test('words, phrases, exclusions, titles and typing errors find what they mean', async () => {
  const { create, titles, ask, fold } = await newWiki();
  await create('Installation guide', 'How to install the engine on a server. State of the art.');
  await create('Get-ChildItem', 'Lists the items of a folder. The art of the state.');
  await create('Zürich', 'A café at the lake, with Ａｐｐｌｅ cake.');
  await create('検索', '全文検索の実装について説明します。');
  await create('The Who', 'A band.');
  for (const round of ['waiting', 'folded']) {
    assert.deepEqual(await titles('installing'), ['Installation guide'], round);
    assert.deepEqual(await titles('"state of the art"'), ['Installation guide'], round);
    assert.deepEqual(await titles('state -engine'), ['Get-ChildItem'], round);
    assert.deepEqual(await titles('child item'), ['Get-ChildItem'], round);
    assert.deepEqual(await titles('zurich'), ['Zürich'], round);
    assert.deepEqual(await titles('CAFE'), ['Zürich'], round);
    assert.deepEqual(await titles('apple'), ['Zürich'], round);
    assert.deepEqual(await titles('全文検索'), ['検索'], round);
    assert.deepEqual(await titles('the who'), (await titles('the who')).slice(0, 1).concat(), round);
    assert.equal((await titles('the who'))[0], 'The Who', round);
    assert.deepEqual(await titles('title:guide'), ['Installation guide'], round);
    assert.deepEqual(await titles('title:engine'), [], round);
    await fold();
  }
  // What corrects words knows those that are folded.
  assert.deepEqual(await titles('instalation'), ['Installation guide']);
  assert.deepEqual(await titles('insatllation'), ['Installation guide']);
  assert.deepEqual(await titles('installa'), ['Installation guide'], 'an unfinished last word is completed');
  assert.deepEqual(await ask('suggest', 'instolation gude'), [
    { kind: 'query', text: 'installation guide', page_id: '', path: '' },
  ]);
});

test('suggestions are titles whose words are begun, and never what the asker may not see', async () => {
  const { owner, create, ask, fold } = await newWiki();
  const viewer = await world.member(owner.workspace_id, 'viewer');
  await create('How to install', 'x');
  await create('Install', 'x');
  await create('Instability, a draft', 'x', { status: 'draft' });
  const { page_id } = await create('Instance in the trash', 'x');
  await owner.send('DELETE', `/v1/wikis/${owner.wiki_id}/pages/${page_id}`);
  for (const round of ['waiting', 'folded']) {
    const texts = async (query: string, by?: Client) =>
      (await ask('suggest', query, by)).map(({ text }: { text: string }) => text);
    assert.deepEqual(await texts('inst', viewer), ['Install', 'How to install'], round);
    assert.deepEqual((await texts('inst')).sort(), ['How to install', 'Instability, a draft', 'Install'], round);
    assert.deepEqual(await texts('how to ins', viewer), ['How to install'], round);
    assert.deepEqual(await texts('nothing of it', viewer), [], round);
    assert.equal((await ask('suggest?limit=1', 'inst', viewer)).length, 1);
    await fold();
  }
});

test('limit and offset count what the asker may see, however many better pages are hidden', async () => {
  const { owner, wiki, create, fold } = await newWiki();
  const viewer = await world.member(owner.workspace_id, 'viewer');
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => create(`Zebra ${i}`, 'zebra zebra zebra', { status: 'draft' })),
  );
  for (let i = 0; i < 5; i += 1) await create(`Other ${i}`, `zebra ${'and much else '.repeat(i)}`);
  await fold();
  const page = async (offset: number) =>
    (await viewer.get(`${wiki}/pages/search?query=zebra&limit=2&offset=${offset}`)).body.map(
      ({ title }: { title: string }) => title,
    );
  const all = [...(await page(0)), ...(await page(2)), ...(await page(4)), ...(await page(6))];
  assert.deepEqual(all.toSorted(), ['Other 0', 'Other 1', 'Other 2', 'Other 3', 'Other 4']);
});

test('what was written before there was an index is indexed by a job, while what is written since is found', async () => {
  const { owner, create, titles, fold } = await newWiki();
  await create('Old page', 'written before');
  await fold();
  const { wiki_id } = owner;
  for (const table of [
    'search_documents',
    'search_postings',
    'search_words',
    'search_wikis',
    'search_pending',
  ] as const) {
    await world.db.query({ strings: [`delete from ${table} where wiki_id = `, ''], values: [wiki_id] });
  }
  await create('New page', 'written since');
  assert.deepEqual(await titles('written'), ['New page']);
  await world.db.query(sql`
    insert into search_wikis (wiki_id, kind, pivot_title, pivot_body, is_stale) values (${wiki_id}, 'page', 4, 150, true)`);
  const jobs = await until(
    'the wiki is indexed again',
    async () =>
      (await owner.get(`/v1/wikis/${wiki_id}/jobs`)).body as {
        kind: string;
        status: string;
        progress: number;
        summary: string;
      }[],
    (seen) => seen.some(({ kind, status }) => kind === 'reindex' && status === 'completed'),
  );
  assert.deepEqual((await titles('written')).toSorted(), ['New page', 'Old page']);
  const [job] = jobs;
  assert.deepEqual([job?.status, job?.progress, job?.summary], ['completed', 100, '2 pages and sources reindexed.']);
});

test('parts of Japanese texts find the pages that hold them', async (t) => {
  const files = await corpus('tldr/ja');
  const { owner, wiki, fold } = await newWiki();
  const texts = Object.entries(files ?? {})
    .map(([name, bytes]) => ({ name, text: bytes.toString() }))
    .slice(0, 150);
  if (texts.length === 0)
    texts.push(
      { name: 'one', text: '全文検索の実装について説明します。' },
      { name: 'two', text: '日本語の文書を探す。' },
    );
  await Promise.all(texts.map(({ name, text }) => owner.post(`${wiki}/pages`, { title: name, markdown: text })));
  await fold();
  const stored = await world.db.query<{ page_id: string; text: string }>(sql`
    select page_id, text from page_texts where wiki_id = ${owner.wiki_id} order by page_id`);
  let [asked, expected, found] = [0, 0, 0];
  for (const [i, { text }] of stored.entries()) {
    const runs = text.match(/[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]{4,}/gu) ?? [];
    const run = runs[i % Math.max(1, runs.length)];
    if (!run) continue;
    const part = run.slice(0, 2 + (i % 3));
    const holding = stored.filter((other) => other.text.includes(part)).map(({ page_id }) => page_id);
    const hits = (await owner.get(`${wiki}/pages/search?limit=500&query=${encodeURIComponent(part)}`)).body;
    const ids = new Set(hits.map(({ page_id }: { page_id: string }) => page_id));
    asked += 1;
    expected += holding.length;
    found += holding.filter((id) => ids.has(id)).length;
  }
  t.diagnostic(`${asked} parts of 2 to 4 characters: recall ${(found / expected).toFixed(4)}`);
  assert.ok(found >= 0.99 * expected);
});

test('one wrong letter in the longest word of a title still finds the page', async (t) => {
  const files = await corpus('tldr/common');
  const { owner, wiki, fold } = await newWiki();
  const texts = Object.values(files ?? {})
    .slice(0, PAGES)
    .map((bytes) => bytes.toString().replace(/^#.*\n/, ''));
  while (texts.length < 40)
    texts.push(
      `> ${['Install', 'Configure', 'Extinguish', 'Navigate'][texts.length % 4]} component number ${texts.length}.`,
    );
  const titleOf = (text: string) => (/^> ([^.\n]{10,80})/m.exec(text)?.[1] ?? '').trim();
  const titled = texts.map((text) => ({ title: titleOf(text), text })).filter(({ title }) => title !== '');
  const made = await Promise.all(
    titled.map(
      async ({ title, text }) => (await owner.post(`${wiki}/pages`, { title, markdown: text })).body.page_id as string,
    ),
  );
  await fold();
  let [asked, found] = [0, 0];
  for (const [i, { title }] of titled.entries()) {
    const longest = (title.match(/[a-z]{5,}/gi) ?? []).toSorted((a, b) => b.length - a.length)[0];
    if (!longest) continue;
    const at = 1 + (i % (longest.length - 1));
    const letter = longest[at] === 'x' ? 'q' : 'x';
    const query = title.replace(longest, longest.slice(0, at) + letter + longest.slice(at + 1));
    const hits = (await owner.get(`${wiki}/pages/search?limit=2&query=${encodeURIComponent(query)}`)).body;
    asked += 1;
    if (hits.some(({ page_id }: { page_id: string }) => page_id === made[i])) found += 1;
  }
  t.diagnostic(`${asked} titles with a wrong letter: ${((100 * found) / asked).toFixed(1)} % first or second`);
  assert.ok(found >= 0.7 * asked);
});
