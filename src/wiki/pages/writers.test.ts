import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent, longTest } from '../../../test/extent.ts';
import { findWrong } from '../../../test/pairs/wiki-invariants.ts';
import { type Answer, type Client, makeDatabase, openWorld } from '../../../test/world.ts';
import { sql } from '../../platform/db/sql.ts';

/** PAGE_RUNS: number of random histories; PAGE_SEED: the seed of a run to repeat. */
const RUNS = Number(process.env.PAGE_RUNS || extent(8, 3));
const SEED = Number(process.env.PAGE_SEED || Date.now() % 2 ** 31);

// Two services with one database, as on two machines.
const DATABASE_URL = await makeDatabase();
const [world, other] = [await openWorld({ DATABASE_URL }), await openWorld({ DATABASE_URL, ROLE: 'web' })];
const owner = await world.owner();
const writers: Client[] = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? world : other).as(owner.token));

async function newWiki(): Promise<string> {
  return (await owner.post(`/v1/workspaces/${owner.workspace_id}/wikis`, { title: 'Random' })).body.wiki_id;
}

/** Checks the invariants of a wiki in the database. */
async function checkWiki(wiki_id: string): Promise<void> {
  const query = world.db.query;
  assert.deepEqual(await findWrong(world), []);
  const wrong = await query(sql`
    select 'a history with gaps' as what, p.path as where from pages p join revisions r using (wiki_id, page_id)
    where wiki_id = ${wiki_id}
    group by p.page_id, p.path, p.revision
    having count(*) <> p.revision or min(r.revision) <> 1 or max(r.revision) <> p.revision`);
  assert.deepEqual(wrong, []);
  const [tree] = await query<{ pages: number; reached: number }>(sql`
    with recursive reached as (
      select page_id from pages where wiki_id = ${wiki_id} and parent_page_id is null
      union all select p.page_id from reached r join pages p on p.wiki_id = ${wiki_id} and p.parent_page_id = r.page_id)
    select (select count(*) from pages where wiki_id = ${wiki_id})::int as pages, (select count(*) from reached)::int as reached`);
  assert.equal(tree?.reached, tree?.pages, 'every page is reached from the root, so there is no cycle');
  const titled = await query<{ title: string; ids: string[] }>(sql`
    select title, array_agg(page_id) as ids from pages where wiki_id = ${wiki_id} and trashed_at is null and title ~ '^[a-z]+$'
    group by title`);
  for (const { title, ids } of titled) {
    const hits = (await owner.get(`/v1/wikis/${wiki_id}/pages/search?limit=500&query=title:${title}`)).body;
    const found = new Set(hits.map(({ page_id }: { page_id: string }) => page_id));
    assert.deepEqual(
      ids.filter((id) => !found.has(id)),
      [],
      `every page is found by its present title, ${title}`,
    );
  }
}

const word = fc.constantFrom('ant', 'bee', 'cat', 'dog');
const page = fc.nat(7);
const step = fc.oneof(
  fc.record({ do: fc.constant('create' as const), title: word, parent: fc.option(page), link: word }),
  fc.record({ do: fc.constant('edit' as const), page, title: fc.option(word), link: word }),
  fc.record({ do: fc.constant('move' as const), page, parent: fc.option(page), slug: fc.option(word) }),
  fc.record({ do: fc.constant('trash' as const), page }),
  fc.record({ do: fc.constant('restore' as const), page }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

test('after any concurrent edits, the wiki is a tree of complete pages and every link with a possible target leads to it', async (t) => {
  t.diagnostic(`PAGE_SEED=${SEED}, ${RUNS} histories`);
  const counts: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 3, maxLength: 12 }), { minLength: 2, maxLength: 8 }),
      async (histories) => {
        const wiki_id = await newWiki();
        const pages = `/v1/wikis/${wiki_id}/pages`;
        const ids: string[] = [];
        const idAt = (place: number | null) => (place === null ? '' : (ids[place % Math.max(ids.length, 1)] ?? ''));
        const revisionOf = async (client: Client, id: string) =>
          (await client.get(`${pages}/${id}`)).body.revision ?? 1;

        async function take(client: Client, one: Step): Promise<Answer | undefined> {
          if (one.do === 'create') {
            const markdown = `[x](${one.link}) [y](../${one.link}/ant)`;
            const made = await client.post(pages, { title: one.title, markdown, parent_page_id: idAt(one.parent) });
            if (made.status === 201) ids.push(made.body.page_id);
            return made;
          }
          const id = idAt(one.page);
          if (id === '') return undefined;
          switch (one.do) {
            case 'edit': {
              const text = { markdown: `[x](${one.link}) ${Math.random()}`, ...(one.title && { title: one.title }) };
              return client.patch(`${pages}/${id}`, { ...text, base_revision: await revisionOf(client, id) });
            }
            case 'move': {
              const parent_page_id = idAt(one.parent);
              return client.patch(`${pages}/${id}`, { parent_page_id, ...(one.slug && { slug: one.slug }) });
            }
            case 'trash':
              return client.send('DELETE', `${pages}/${id}`);
            case 'restore':
              return client.post(`${pages}/${id}/restore`);
          }
        }

        await Promise.all(
          histories.map(async (history, i) => {
            for (const one of history) {
              const answer = await take(writers[i] as Client, one);
              if (!answer) continue;
              assert.ok(answer.status < 500, `${JSON.stringify(one)}: ${JSON.stringify(answer.body)}`);
              const key = `${one.do} ${answer.status}`;
              counts[key] = (counts[key] ?? 0) + 1;
            }
          }),
        );
        await checkWiki(wiki_id);
      },
    ),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  t.diagnostic(JSON.stringify(counts));
});

longTest(
  'of eight writers over two services who edit one page again and again, no write is lost and none is overwritten',
  async () => {
    const wiki_id = await newWiki();
    const pages = `/v1/wikis/${wiki_id}/pages`;
    const { page_id } = (await owner.post(pages, { title: 'Counter', markdown: '' })).body;
    const rounds = 5;
    await Promise.all(
      writers.map(async (client, i) => {
        for (let done = 0; done < rounds; ) {
          const { markdown, revision } = (await client.get(`${pages}/${page_id}`)).body;
          const answer = await client.patch(`${pages}/${page_id}`, {
            markdown: `${markdown}${i}.${done}\n`,
            base_revision: revision,
          });
          assert.ok(answer.status === 200 || answer.body.error === 'edit_conflict', JSON.stringify(answer.body));
          if (answer.status === 200) done += 1;
        }
      }),
    );
    const { markdown, revision } = (await owner.get(`${pages}/${page_id}`)).body;
    const lines: string[] = markdown.trim().split('\n');
    assert.equal(revision, writers.length * rounds + 1);
    assert.equal(lines.length, writers.length * rounds);
    assert.equal(new Set(lines).size, lines.length);
    await checkWiki(wiki_id);
  },
);

longTest('a page moves and goes to the trash with the page above it, also while its text is written', async () => {
  const wiki_id = await newWiki();
  const pages = `/v1/wikis/${wiki_id}/pages`;
  for (let round = 0; round < 20; round += 1) {
    const above = (await owner.post(pages, { title: `Above ${round}`, markdown: '' })).body.page_id;
    const below: string[] = [];
    for (const title of ['First', 'Second', 'Third', 'Fourth']) {
      below.push((await owner.post(pages, { title, markdown: '', parent_page_id: below[0] ?? above })).body.page_id);
    }
    const edit = async (id: string, i: number, base_revision: number) => {
      const text = { markdown: `Text ${base_revision}`, base_revision };
      const { status } = await (writers[i] as Client).patch(`${pages}/${id}`, text);
      assert.ok(status === 200 || status === 404, String(status));
    };
    const [first, ...others] = below as [string, ...string[]];
    await Promise.all([
      ...others.map(async (id, i) => {
        for (let revision = 1; revision <= 6; revision += 1) await edit(id, i, revision);
      }),
      edit(first, 3, 1).then(async () => {
        const [moving, trashing] = writers.slice(-2) as [Client, Client];
        assert.equal((await moving.patch(`${pages}/${above}`, { slug: `moved-${round}` })).status, 200);
        assert.equal((await trashing.send('DELETE', `${pages}/${above}`)).status, 204);
      }),
    ]);
    await checkWiki(wiki_id);
  }
});
