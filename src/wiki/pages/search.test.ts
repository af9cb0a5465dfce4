import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { reverseText } from '@ibid/markdown/analysis/document-terms.ts';
import fc from 'fast-check';
import { anyText } from '../../../test/any-text.ts';
import { extent, longTest } from '../../../test/extent.ts';
import { nextOf } from '../../../test/list-all.ts';
import { until } from '../../../test/until.ts';
import { type Answer, type Client, corpus, openWorld } from '../../../test/world.ts';
import type { Db } from '../../platform/db/db.ts';
import { raw, sql } from '../../platform/db/sql.ts';
import { compareTerms } from '../search/index/blocks.ts';
import type { Pivots } from '../search/index/impacts.ts';
import { mergePending } from '../search/index/merge-pending.ts';
import { mergeSearchIndex } from '../search/index/merge-search-index.job.ts';
import { readPostings } from '../search/index/postings.ts';
import { mergeTerms, readSegments, readTerms } from '../search/index/segments.ts';
import { purgeTrash } from './trash/purge-trash.job.ts';

/** Number of random queries; SEARCH_RUNS=100000 is a long run. */
const RUNS = Number(process.env.SEARCH_RUNS ?? extent(100, 25));
const PAGES = RUNS > 1_000 ? 600 : 100;
const naughty: string[] = createRequire(import.meta.url)('big-list-of-naughty-strings');

/** Length of the longest list of values sent with a statement. */
let longestList = 0;
const observe = (_: string, values: readonly unknown[]) => {
  for (const value of values) if (Array.isArray(value)) longestList = Math.max(longestList, value.length);
};
const world = await openWorld({}, { observe });

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
  /** Writes like an editor who has just read the page. */
  const edit = async (page_id: string, change: object) => {
    const path = `${wiki}/pages/${page_id}`;
    const { status, body } = await owner.patch(path, {
      ...change,
      base_revision: (await owner.get(path)).body.revision,
    });
    assert.equal(status, 200, JSON.stringify(body));
  };
  /** Packs the words of the wiki too, as happens when there are many. */
  const pack = async () => {
    await world.db.query(sql`update search_wikis set loose_words = null where wiki_id = ${owner.wiki_id}`);
    await world.db.query(sql`
      insert into search_pending (wiki_id, kind, document_id, version)
      select wiki_id, 'page', page_id, revision from pages where wiki_id = ${owner.wiki_id}`);
    await fold();
  };
  return { owner, wiki, create, edit, ask, titles, fold, pack };
}

/**
 * Inserts pages directly into the tables, which is much faster than creating them over HTTP. `text`: an SQL expression
 * of `title`.
 */
async function fill(wiki_id: string, pages: number, text: string): Promise<void> {
  const body = raw(text);
  await world.db.query(sql`
    with made as (
      insert into pages (wiki_id, page_id, path, slug, title, origin, revision, word_count, created_by, updated_by)
      select ${wiki_id}, ${wiki_id} || n, 'p' || n, 'p' || n, 'Page ' || n, 'authored', 1, 2, 'user_a', 'user_a'
      from generate_series(1, ${pages}::int) n returning wiki_id, page_id, title
    ), revised as (
      insert into revisions (wiki_id, page_id, revision, title, markdown, html, outline, created_by)
      select wiki_id, page_id, 1, title, ${body}, '', '[]', 'user_a' from made
    ), texts as (
      insert into page_texts (wiki_id, page_id, text) select wiki_id, page_id, ${body} from made
    )
    insert into search_pending (wiki_id, kind, document_id, version) select wiki_id, 'page', page_id, 1 from made`);
}

test('after an edit, the next request finds a page by its new words and not by the removed ones, merged or not', async () => {
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

longTest('a word whose postings are cached is found where it is now, and only there', async () => {
  const { owner, wiki, edit, titles, fold } = await newWiki();
  await fill(owner.wiki_id, 1_500, "'common ' || replace(title, ' ', '')");
  await fold();
  for (const title of ['Page 7', 'Page 1400']) {
    const word = title.replace(' ', '').toLowerCase();
    const page_id = owner.wiki_id + title.slice(5);
    const isFoundBy = async (query: string) => (await titles(`${word} ${query}`))[0] === title;
    const found = async () => [await isFoundBy('"common"'), await isFoundBy('-common')];
    assert.deepEqual(await found(), [true, false]);
    assert.deepEqual(await found(), [true, false], 'from the cache');
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

  // All pages have nearly the same score, and each page of results is as cheap as the first.
  const walked: string[] = [];
  longestList = 0;
  for (let path: string | undefined = `${wiki}/pages/search?query=common&limit=100`; path !== undefined; ) {
    const { headers, body }: Answer = await owner.get(path);
    walked.push(...body.map(({ page_id }: { page_id: string }) => page_id));
    path = nextOf(headers.get('link') ?? undefined);
  }
  assert.deepEqual([walked.length, new Set(walked).size], [1_500, 1_500]);
  const far = (await owner.get(`${wiki}/pages/search?query=common&limit=100&offset=1400`)).body;
  assert.deepEqual(
    far.map(({ page_id }: { page_id: string }) => page_id),
    walked.slice(1_400),
  );
  assert.ok(longestList <= 200, `a statement was sent ${longestList} candidates`);
  const { total, is_exact } = (await owner.get(`${wiki}/pages/search/facets?query=common`)).body;
  assert.deepEqual([total, is_exact], [1_000, false]);
});

test('a search with cached index data takes one statement and misses no change', async () => {
  const { owner, wiki, create, edit, titles, fold } = await newWiki();
  await fill(owner.wiki_id, 40, "'known ' || title || case when title = 'Page 7' then ' seldom' else '' end");
  await fold();
  const asked = async (query: string) => {
    const before = world.statements.length;
    const found = await titles(query);
    const sent = world.statements.slice(before).filter((text) => text.includes(' as _record_use'));
    return { found: found.sort(), statements: sent.length };
  };
  const seven = { found: ['Page 7'], statements: 1 };
  assert.equal((await asked('seldom 1234567')).statements > 1, true);
  assert.deepEqual(await asked('seldom 1234567'), seven);
  assert.deepEqual(await asked('+seldom +known'), { ...seven, statements: 2 }, 'words that were not asked for before');
  assert.deepEqual(await asked('+known +seldom'), seven, 'another order of the same words');
  // The process has searched here before, so it cached the small index whole.
  assert.deepEqual(await asked('+page +seldom'), seven, 'words that were not asked for before');
  assert.deepEqual((await asked('pages 7')).found.length, 40);
  // Another process writes, merges and deletes; this process must find the current state of the database.
  const { page_id } = await create('New', 'seldom known');
  assert.deepEqual((await asked('+seldom +known')).found, ['New', 'Page 7'], 'before it is merged');
  await fold();
  assert.deepEqual((await asked('+seldom +known')).found, ['New', 'Page 7']);
  assert.deepEqual(await asked('+seldom +known'), { found: ['New', 'Page 7'], statements: 1 });
  await edit(page_id, { markdown: 'known' });
  assert.deepEqual((await asked('+seldom +known')).found, ['Page 7'], 'before it is merged');
  await fold();
  assert.deepEqual((await asked('+seldom +known')).found, ['Page 7']);
  assert.equal((await owner.send('DELETE', `${wiki}/pages/${owner.wiki_id}7`)).status, 204);
  assert.deepEqual((await asked('+seldom +known')).found, []);
  // A stranger is refused with the same statement as for a missing wiki.
  const stranger = await world.owner();
  const before = world.statements.length;
  for (const id of [owner.wiki_id, 'wiki_missing']) await stranger.get(`/v1/wikis/${id}/pages/search?query=known`);
  const sent = world.statements.slice(before).filter((text) => text.includes(' as _record_use'));
  assert.deepEqual([sent.length, new Set(sent).size], [2, 1]);
});

test('eight editors of one wiki never block each other while the index is merged, and all their edits are found', async () => {
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

test('any text of 1 to 1,024 characters is a valid query and a valid text for suggestions', async () => {
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
    anyText({ minLength: 1, maxLength: 1_024 }),
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

test('words, phrases, exclusions, titles and typing errors find the expected pages', async () => {
  const { create, titles, ask, fold, pack } = await newWiki();
  await create('Installation guide', 'How to install the engine on a server. State of the art.');
  await create('Get-ChildItem', 'Lists the items of a folder. The art of the state.');
  await create('Zürich', 'A café at the lake, with Ａｐｐｌｅ cake.');
  await create('検索', '全文検索の実装について説明します。');
  await create('The Who', 'A band.');
  for (const round of ['waiting', 'folded', 'packed']) {
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
    assert.deepEqual(await titles('instalation'), ['Installation guide'], `${round}: a typing error`);
    assert.deepEqual(await titles('installa'), ['Installation guide'], `${round}: an unfinished last word`);
    if (round !== 'waiting') {
      assert.deepEqual(await titles('insatllation'), ['Installation guide'], `${round}: in its first half`);
      assert.deepEqual(await titles('stallation'), ['Installation guide'], `${round}: the end of a word`);
      assert.deepEqual(
        (await titles('enginefolder')).toSorted(),
        ['Get-ChildItem', 'Installation guide'],
        `${round}: two words as one`,
      );
      assert.deepEqual(await ask('suggest', 'instolation gude'), [
        { kind: 'query', text: 'installation guide', page_id: '', path: '' },
      ]);
    }
    await (round === 'waiting' ? fold() : pack());
  }
});

test('suggestions are titles that contain the typed words, and never titles of hidden pages', async () => {
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

test('limit and offset count visible pages only, however many better hits are hidden', async () => {
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

test('related pages share words with the page, and hidden pages are never among them', async () => {
  const { owner, wiki, create, fold } = await newWiki();
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const turbine = await create(
    'Turbine',
    'A turbine turns by steam; its blades and bearings wear, and oil cools the bearings.',
  );
  await create('Bearings', 'The bearings of a turbine want oil, or its blades touch the case.');
  const draft = await create('Blades', 'The blades of a turbine wear by steam.', { status: 'draft' });
  const alone = await create('Holidays', 'The canteen is closed on Mondays.');
  const related = async (page_id: string, by: Client) => {
    const { status, body } = await by.get(`${wiki}/pages/${page_id}/related`);
    return status === 200 ? body.map(({ title }: { title: string }) => title) : status;
  };
  for (const isMerged of [false, true]) {
    if (isMerged) await fold();
    assert.deepEqual((await related(turbine.page_id, owner)).toSorted(), ['Bearings', 'Blades']);
    assert.deepEqual(await related(turbine.page_id, viewer), ['Bearings']);
    assert.equal(await related(draft.page_id, viewer), 404);
    assert.deepEqual(await related(alone.page_id, owner), []);
  }
});

test('a query that is too long is cut at a word, and the response says where', async () => {
  const { owner, wiki, create } = await newWiki();
  await create('Short', 'begins');
  await create('Late', 'ends');
  const long = `begins ${'filler '.repeat(400)}ends`;
  for (const what of ['pages/search', 'sources/search', 'suggest']) {
    const answer = await owner.get(`${wiki}/${what}?query=${encodeURIComponent(long)}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal(Number(answer.headers.get('ibid-query-cut')), long.lastIndexOf(' ', 1_024));
    const whole = await owner.get(`${wiki}/${what}?query=begins`);
    assert.equal(whole.headers.get('ibid-query-cut'), null);
    if (what === 'pages/search')
      assert.deepEqual(
        answer.body,
        whole.body.map((hit: object) => ({ ...hit, score: answer.body[0].score })),
      );
  }
});

test('a correction is reported in a header only if a hit shows the corrected word', async () => {
  const { create, wiki, owner } = await newWiki();
  await create('Homes', 'A house on the hill.');
  await create('Plans', 'A cathédrale in secret.', { status: 'draft' });
  const reader = await world.member(owner.workspace_id, 'viewer');
  const said = async (client: Client, query: string) => {
    const { headers } = await client.get(`${wiki}/pages/search?query=${encodeURIComponent(query)}`);
    return headers.get('ibid-query-corrected');
  };
  assert.equal(await said(owner, 'the houze, hill'), encodeURIComponent('the house, hill'));
  assert.equal(await said(owner, 'house'), null);
  assert.equal(await said(owner, 'cathedralle'), 'cathedrale');
  assert.equal(await said(reader, 'cathedralle'), null, 'words of drafts are not revealed');
});

test('titles are sorted by their numbers, equal hits by age with the newest first, and paging returns each hit once', async () => {
  const { create, wiki, owner, fold } = await newWiki();
  const names = ['Entry 10', 'Entry 9', 'Entry 1', 'Entry 100', 'Entry 2'];
  for (const [i, title] of names.entries()) {
    await create(title, 'Same words.');
    if (i === 2) await fold();
  }
  const listed = async (more: string) => {
    const found: string[] = [];
    let path: string | undefined = `${wiki}/pages/search?query=entry&limit=2${more}`;
    while (path !== undefined) {
      const { body, headers }: { body: { title: string }[]; headers: Headers } = await owner.get(path);
      found.push(...body.map(({ title }) => title));
      path = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    return found;
  };
  const byNumber = ['Entry 1', 'Entry 2', 'Entry 9', 'Entry 10', 'Entry 100'];
  assert.deepEqual(await listed('&sort=title'), byNumber);
  assert.deepEqual((await listed('')).toSorted(), byNumber.toSorted());
  await fold();
  assert.deepEqual(await listed('&sort=title'), byNumber);
  assert.deepEqual(await listed(''), names.toReversed());
});

test('the whole of a long text is searched, and the passage is taken from the place of the words', async () => {
  const { owner, wiki, create } = await newWiki();
  const filler = 'Nothing to see in this paragraph, go on to the next one.\n\n'.repeat(2_200);
  const markdown = `# Begin\n\n${filler}## Middle\n\nThe platypus lays eggs.\n\n${filler}${filler}## End\n\nThe quokka smiles at people.\n`;
  await create('Animals', markdown);
  const hitOf = async (query: string) => {
    const [hit] = (await owner.get(`${wiki}/pages/search?query=${encodeURIComponent(query)}`)).body;
    return hit && { heading: hit.heading, snippet: hit.snippet };
  };
  assert.ok(markdown.indexOf('platypus') > 100_000 && markdown.indexOf('quokka') > 250_000);
  for (const [query, heading, shown] of [
    ['platypus', 'Middle', 'The <mark>platypus</mark> lays eggs.'],
    ['quokka', 'End', 'The <mark>quokka</mark> smiles at people.'],
    ['"smiles at people"', 'End', '<mark>smiles</mark> <mark>at</mark> <mark>people</mark>.'],
  ] as const) {
    const hit = await hitOf(query);
    assert.equal(hit?.heading, heading, query);
    assert.ok(hit.snippet.includes(shown), hit.snippet);
  }
  assert.match((await hitOf('animals')).snippet, /^Begin/, 'a title alone shows how the text begins');
});

test('parameters filter a search like the operators of the same names, and reveal nothing hidden', async () => {
  const { owner, wiki, create } = await newWiki();
  const viewer = await world.member(owner.workspace_id, 'viewer');
  const stranger = await world.owner();
  const folder = await create('Folder', 'apples');
  await create('Below', '---\ntags: Fruit\n---\napples', { parent_page_id: folder.page_id });
  await create('Hidden', '---\ntags: [Fruit, secret]\n---\napples', { status: 'draft' });
  const old = await create('Old', 'apples');
  assert.equal(
    (await owner.patch(`${wiki}/pages/${old.page_id}`, { status: 'archived', base_revision: 1 })).status,
    200,
  );
  const titles = async (parameters: string, by: Client = owner) => {
    const { status, body } = await by.get(`${wiki}/pages/search?query=${parameters}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.map(({ title }: { title: string }) => title).toSorted();
  };
  for (const folded of [false, true]) {
    assert.deepEqual(await titles(`apples&in=${folder.page_id}`), ['Below', 'Folder'], `${folded}`);
    assert.deepEqual(await titles('apples&in=folder&title=below'), ['Below']);
    assert.deepEqual(await titles('apples&path=low'), ['Below']);
    assert.deepEqual(await titles('apples&tag=fruit'), ['Below', 'Hidden']);
    assert.deepEqual(await titles('apples&tag=FRUIT', viewer), ['Below']);
    assert.deepEqual([await titles('tag:secret', viewer), await titles('apples&tag=frui')], [[], []]);
    assert.deepEqual(await titles('apples&status=draft'), ['Hidden']);
    assert.deepEqual(await titles('apples&status=draft', viewer), []);
    assert.deepEqual(await titles('status:draft', viewer), []);
    assert.deepEqual(await titles('apples&status=archived'), ['Old']);
    assert.deepEqual(await titles('apples&author=me'), ['Below', 'Folder', 'Hidden']);
    assert.deepEqual(await titles('apples&author=me', viewer), []);
    assert.deepEqual(await titles(`apples&author=${owner.user_id}`, viewer), ['Below', 'Folder']);
    assert.deepEqual(await titles(`apples&author=${stranger.user_id}`), []);
    assert.deepEqual(await titles(`apples&in=${stranger.wiki_id}`), []);
    assert.deepEqual(await titles('apples&updated=%3E2020&created=2020..*'), ['Below', 'Folder', 'Hidden']);
    assert.deepEqual(await titles('apples&updated=%3C2020-01-01'), []);
    while ((await mergePending(world.db, owner.wiki_id, 'page', 'wait')) > 0);
  }
  const counts = async (parameters: string, by: Client = owner) =>
    (await by.get(`${wiki}/pages/search/facets?query=${parameters}`)).body;
  const all = await counts('apples');
  assert.deepEqual(
    [all.total, all.is_exact, all.authors[0].user_id, all.authors[0].count],
    [3, true, owner.user_id, 3],
  );
  assert.deepEqual(all.folders, [
    { path: 'folder', title: 'Folder', count: 2 },
    { path: 'hidden', title: 'Hidden', count: 1 },
  ]);
  assert.deepEqual(all.statuses, [
    { status: 'published', count: 2 },
    { status: 'draft', count: 1 },
  ]);
  const ofFruit = { tag: 'Fruit', count: 2 };
  assert.deepEqual(all.tags, [ofFruit, { tag: 'secret', count: 1 }]);
  assert.deepEqual((await counts('apples', viewer)).tags, [{ ...ofFruit, count: 1 }]);
  for (const query of [
    'apples',
    'apples&tag=fruit',
    'apples&author=me',
    'author:me',
    'apples&in=hidden',
    'apples -"no such thing"',
  ]) {
    const found = (await owner.get(`${wiki}/pages/search?query=${query}`)).body;
    assert.deepEqual([query, (await counts(query)).total], [query, found.length]);
  }
  assert.deepEqual([(await counts('apples', viewer)).total, (await counts('apples', viewer)).statuses.length], [2, 1]);
  assert.deepEqual((await counts('platypus')).total, 0);
  // The total covers all hits that the caller may see, even if only some are counted by author, tag and so on.
  for (const [by, total] of [
    [owner, 3],
    [viewer, 2],
  ] as const)
    for (const query of ['apples&of=1', 'apples&of=2', `apples&of=1&author=${owner.user_id}`])
      assert.deepEqual([query, (await counts(query, by)).total], [query, total]);
  // The newest of the equal hits is archived, so it is not found.
  const ofBest = await counts('apples&of=2');
  assert.deepEqual([ofBest.is_exact, ofBest.folders.length, ofBest.statuses[0].count], [true, 1, 1]);
  // Statements are prepared once and kept, so their number must not grow with the combinations of filters.
  const many = 'in:a path:b author:c tag:d status:draft -in:d created:2026 -updated:<2020 type:page'.split(' ');
  await counts(encodeURIComponent('apples -in:nowhere'));
  const before = new Set(world.statements).size;
  for (let i = 0; i <= many.length; i += 1) await counts(encodeURIComponent(`apples -in:x ${many.slice(i).join(' ')}`));
  assert.ok(new Set(world.statements).size <= before + 3, `${new Set(world.statements).size - before} statements`);
  // A key without permission to read the members learns no names from a search.
  const [{ email }] = (await world.db.query<{ email: string }>(
    sql`select email from users where user_id = ${owner.user_id}`,
  )) as [{ email: string }];
  assert.deepEqual(await titles(`apples&author=${encodeURIComponent(email)}`), ['Below', 'Folder', 'Hidden']);
  const { body: key } = await owner.post('/v1/me/api-keys', { name: 'reads pages', permissions: ['pages:read'] });
  const reader = world.as(key.secret);
  assert.deepEqual(await titles('apples', reader), ['Below', 'Folder']);
  assert.deepEqual(
    [all.authors[0].display_name !== '', (await counts('apples', reader)).authors[0].display_name],
    [true, ''],
  );
  assert.deepEqual(await titles(`apples&author=${encodeURIComponent(email)}`, reader), []);
  assert.equal((await owner.get(`${wiki}/pages/search?query=apples&updated=yesterday`)).status, 422);
  const order = async (sort: string) =>
    (await owner.get(`${wiki}/pages/search?query=apples&sort=${sort}`)).body.map(
      ({ title }: { title: string }) => title,
    );
  assert.deepEqual(await order('title'), ['Below', 'Folder', 'Hidden']);
  assert.deepEqual(await order('created'), ['Hidden', 'Below', 'Folder']);
});

test('pages written before there was an index are indexed by a job, and new ones are found during that time', async () => {
  const { owner, create, titles, fold } = await newWiki();
  await create('Old page', 'written before');
  await fold();
  const { wiki_id } = owner;
  for (const table of [
    'search_documents',
    'search_blocks',
    'search_segments',
    'search_vocabulary',
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

test('after any edits and interrupted merges, an index equals a new index of the same texts', async () => {
  const { owner, wiki, create, edit, titles, fold } = await newWiki();
  const { wiki_id } = owner;
  const random = fc.sample(fc.nat(), { numRuns: 400, seed: 7 })[Symbol.iterator]();
  const below = (most: number) => (random.next().value ?? 0) % most;
  const text = () => Array.from({ length: 5 + below(40) }, () => `word${below(30)} frequent`).join(' ');
  const ids: string[] = [];
  for (let i = 0; i < 40; i += 1) ids.push((await create(`Title ${i}`, text())).page_id);
  await fold();
  for (let round = 0; round < 12; round += 1) {
    for (let i = 0; i < 3; i += 1) {
      const id = ids[below(ids.length)] as string;
      if (below(3) === 0) await edit(id, { title: `Title of round${round}` });
      else await edit(id, { markdown: text() });
    }
    const [gone] = ids.splice(below(ids.length), 1);
    await owner.send('DELETE', `${wiki}/pages/${gone}`);
    await world.db.query(sql`update pages set trashed_at = now() - interval '1 year' where page_id = ${gone}`);
    if (round % 2 === 0)
      await purgeTrash.run({ db: world.db, target: { wiki_id }, signal: new AbortController().signal } as never);
    // As written by a release that did not record the documents of a segment.
    if (round === 5) await world.db.query(sql`update search_segments set held = null where wiki_id = ${wiki_id}`);
    if (round % 3 === 1) {
      const before = await titles('frequent');
      const isInterrupted = await interruptMerge(wiki_id, 3 + (round % 8));
      assert.ok(isInterrupted, `round ${round}`);
      assert.deepEqual(await titles('frequent'), before);
    }
    await fold();
  }
  const seen = await indexOf(wiki_id);
  // Both indexes use the same averages.
  const [{ pivot_title, pivot_body }] = (await world.db.query(sql`
    select pivot_title, pivot_body from search_wikis where wiki_id = ${wiki_id} and kind = 'page'`)) as [Pivots];
  for (const table of ['search_documents', 'search_blocks', 'search_segments'] as const) {
    await world.db.query({ strings: [`delete from ${table} where wiki_id = `, ''], values: [wiki_id] });
  }
  await world.db.query(sql`
    update search_wikis set documents = 0, title_terms = 0, body_terms = 0 where wiki_id = ${wiki_id} and kind = 'page'`);
  await world.db.query(sql`
    insert into search_pending (wiki_id, kind, document_id, version)
    select wiki_id, 'page', page_id, revision from pages where wiki_id = ${wiki_id}`);
  await fold();
  const rebuilt = await indexOf(wiki_id);
  const [again] = await world.db.query<Pivots>(sql`
    select pivot_title, pivot_body from search_wikis where wiki_id = ${wiki_id} and kind = 'page'`);
  assert.deepEqual([...seen.keys()], [...rebuilt.keys()]);
  if (again?.pivot_title === pivot_title && again.pivot_body === pivot_body) assert.deepEqual(seen, rebuilt);
  const segments = await readSegments(world.db.query, { wiki_id, kind: 'page' });
  assert.ok(segments.length <= 2, `${segments.length} segments`);
});

test('the vocabulary of a wiki contains each word of its texts exactly once, regardless of number and order', async () => {
  const { owner, create, fold } = await newWiki();
  const { wiki_id } = owner;
  const made = (n: number) => {
    const letters = n % 2 === 0 ? 'bcdfghklmnpqrstvwxzj' : 'бвгджзклмнпрстфхцчшщ';
    return Array.from(n.toString(20).padStart(4, '0'), (digit) => letters[Number.parseInt(digit, 20)]).join('');
  };
  const expected = new Set(['page']);
  for (const [batch, pages] of [5, 1, 1, 6, 1].entries()) {
    for (let i = 0; i < pages; i += 1) {
      const words = Array.from({ length: 150 }, (_, n) => made(7 * (1_000 * batch + 120 * i + n)));
      for (const word of words) expected.add(word);
      await create(`Page ${batch} ${i}`, words.join(' '));
    }
    await fold();
    const loose = await world.db.query<{ word: string }>(sql`select word from search_words where wiki_id = ${wiki_id}`);
    const blocks = await world.db.query<{ is_backwards: boolean; first: string; words: string }>(sql`
      select is_backwards, first, words from search_vocabulary where wiki_id = ${wiki_id} order by first`);
    const packed = (isBackwards: boolean) =>
      blocks
        .filter(({ is_backwards }) => is_backwards === isBackwards)
        .flatMap(({ first, words }) => {
          const all = words.split(' ').slice(1, -1);
          assert.equal(all[0], first);
          return all;
        });
    for (const isBackwards of [false, true]) {
      const words = packed(isBackwards);
      assert.deepEqual(words, words.toSorted(compareTerms));
      const seen = [...words.map((word) => (isBackwards ? reverseText(word) : word)), ...loose.map(({ word }) => word)];
      assert.deepEqual(seen.toSorted(), [...expected].toSorted(), `batch ${batch}`);
    }
    const [counted] = await world.db.query(
      sql`select loose_words from search_wikis where wiki_id = ${wiki_id} and kind = 'page'`,
    );
    assert.equal(counted?.loose_words, loose.length);
  }
});

/** Returns the impact of every posting that is not dead, by term and page. */
async function indexOf(wiki_id: string): Promise<Map<string, number>> {
  const index = { wiki_id, kind: 'page' as const };
  const rows = await world.db.query<{ document_no: number; document_id: string }>(sql`
    select document_no, document_id from search_documents where wiki_id = ${wiki_id} and kind = 'page'`);
  const ids = new Map(rows.map(({ document_no, document_id }) => [document_no, document_id]));
  const segments = await readSegments(world.db.query, index);
  const found = new Map<string, number>();
  for await (const some of mergeTerms(segments.map((one) => readTerms(world.db.query, index, one)))) {
    for (const [term, { bytes, from, to }] of some) {
      const { numbers, impacts } = readPostings(bytes, from, to);
      for (const [i, number] of numbers.entries()) found.set(`${term} ${ids.get(number)}`, impacts[i] as number);
    }
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Merges pending documents, and simulates an end of the process at the given statement. */
async function interruptMerge(wiki_id: string, statements: number): Promise<boolean> {
  let left = statements;
  const interrupted: Db = {
    query: world.db.query,
    transaction: (work) =>
      world.db.transaction((query) =>
        work((statement) => {
          if ((left -= 1) < 0) throw new Error('the process ends here');
          return query(statement);
        }),
      ),
  };
  try {
    return (await mergePending(interrupted, wiki_id, 'page', 'wait')) < 0;
  } catch (error) {
    if ((error as Error).message !== 'the process ends here') throw error;
    return true;
  }
}

longTest('averages that have changed by more than a tenth are weighed anew', async () => {
  const { owner, create, fold, titles } = await newWiki();
  await create('Long', 'word '.repeat(300));
  await fold();
  // Simulates a wiki that has grown and whose newer texts are longer.
  await world.db.query(sql`
    update search_wikis set documents = 1000, body_terms = 300000, title_terms = 1000, pivot_body = 280, pivot_title = 1
    where wiki_id = ${owner.wiki_id} and kind = 'page'`);
  const write = async (title: string) => {
    await create(title, 'word '.repeat(300));
    await fold();
  };
  const state = async () => {
    const [row] = await world.db.query<{ is_stale: boolean; pivot_body: number }>(sql`
      select is_stale, pivot_body from search_wikis where wiki_id = ${owner.wiki_id} and kind = 'page'`);
    return row;
  };
  await write('Within a tenth');
  assert.deepEqual(await state(), { is_stale: false, pivot_body: 280 });
  await world.db.query(sql`
    update search_wikis set pivot_body = 200 where wiki_id = ${owner.wiki_id} and kind = 'page'`);
  await write('Beyond');
  const after = await until(
    'the index is computed again',
    state,
    (seen) => seen?.pivot_body !== 200 && !seen?.is_stale,
  );
  assert.ok(after && after.pivot_body > 250 && after.pivot_body < 350, `${after?.pivot_body}`);
  assert.deepEqual((await titles('word')).toSorted(), ['Beyond', 'Long', 'Within a tenth']);
});

longTest('parts of Japanese texts find the pages that hold them', async (t) => {
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

longTest('one wrong letter in the longest word of a title still finds the page', async (t) => {
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

test('excluded words do not count against the limit on terms that are read, however frequent they are', async () => {
  const { owner, titles, fold } = await newWiki();
  // Each word is on one page fewer than the searched word; together their postings exceed what a search reads.
  const common = Array.from({ length: 90 }, (_, i) => `common${i}`);
  await fill(owner.wiki_id, 3_000, `'wanted ' || case title when 'Page 7' then '' else '${common.join(' ')}' end`);
  await fold();
  assert.deepEqual(await titles(`wanted ${common.map((word) => `-${word}`).join(' ')}`), ['Page 7']);
});

test('a query of many words searches for the 64 rarest terms and marks 32', async () => {
  const { owner, create, ask, fold } = await newWiki();
  await fill(owner.wiki_id, 80, `'zq' || substr(title, 6)`);
  await fold();
  const words = Array.from({ length: 80 }, (_, i) => `zq${i + 1}`);
  assert.equal((await ask('pages/search?limit=100', words.join(' '))).length, 64);
  const all = words.slice(0, 40).join(' ');
  await create('All', all);
  const [first] = await ask('pages/search', all);
  assert.equal(first.title, 'All');
  assert.equal(first.snippet.match(/<mark>/g).length, 32);
});

test('adjacent words rank higher, and each page of results continues where the previous page ended', async () => {
  const { owner, wiki, ask, fold } = await newWiki();
  const apart = "repeat(' filler', 40)";
  await fill(
    owner.wiki_id,
    80,
    `case when substr(title, 6)::int % 3 = 2 then 'alpha beta' || ${apart} else 'alpha' || ${apart} || ' beta' end`,
  );
  await fold();
  const all: { title: string }[] = await ask('pages/search?limit=100', 'alpha beta');
  assert.equal(all.length, 80);
  // Among equal pages the greatest ids come first, and only the first 12 are raised.
  const near = [80, 8, 77, 74].map((n) => `Page ${n}`);
  assert.deepEqual(
    all.slice(0, near.length).map(({ title }) => title),
    near,
  );
  assert.equal((await ask('pages/search', 'alpha and beta'))[0].title, near[0], 'stop words between them do not count');
  const follow = async (query: string) => {
    const followed: { title: string }[] = [];
    const first = `${wiki}/pages/search?query=${encodeURIComponent(query)}&limit=7`;
    for (let next: string | undefined = first; next !== undefined; ) {
      const { headers, body } = await owner.get(next);
      followed.push(...body);
      next = nextOf(headers.get('link'));
    }
    return followed;
  };
  const skipped: { title: string }[] = [];
  assert.deepEqual(await follow('alpha beta'), all);
  for (let offset = 0; offset < 80; offset += 30) {
    skipped.push(...(await ask(`pages/search?limit=30&offset=${offset}`, 'alpha beta')));
  }
  assert.deepEqual(skipped, all);
  // Without words, hits are sorted by the last change, and within the same microsecond by id.
  await world.db.query(sql`
    update pages set tags = '{many}', updated_at = now() - abs(hashtext(page_id)) % 20 * interval '1 microsecond'
    where wiki_id = ${owner.wiki_id}`);
  for (const query of ['updated:>2000-01-01', 'tag:many', '-tag:other']) {
    const changed = await ask('pages/search?limit=100', query);
    assert.deepEqual([changed.length >= 80, await follow(query)], [true, changed], query);
  }
});

longTest(
  'a large import is merged in batches, each in a turn of its own, so that other wikis are merged in between',
  async () => {
    const { owner, fold } = await newWiki();
    const { wiki_id } = owner;
    // A failed job keeps the scheduler from adding another one, so only the job's own runs merge.
    await world.db.query(sql`
    insert into background_jobs (name, lane, key, workspace_id, wiki_id, input, status, crashes)
    values ('merge-search-index', 'index', ${wiki_id}, ${owner.workspace_id}, ${wiki_id}, '{}', 'failed', 3)`);
    await fill(wiki_id, 1_200, `'some words of ' || title`);
    let transactions = 0;
    const transaction: typeof world.db.transaction = (work) => {
      transactions += 1;
      return world.db.transaction(work);
    };
    const { signal } = new AbortController();
    await mergeSearchIndex.run({ db: { ...world.db, transaction }, target: { wiki_id }, signal } as never);
    assert.equal(transactions, 1, 'one batch of pages');
    const pending = async () =>
      (await world.db.query(sql`select document_id from search_pending where wiki_id = ${wiki_id}`)).length;
    assert.ok((await until('the other turns have come', pending, (count) => count < 32)) < 32);
    await fold();
  },
);
