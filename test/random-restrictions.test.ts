import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressesOf,
  type ComparedWiki,
  labelRest,
  masked,
  mergeIndexes,
  must,
  newComparedWiki,
  type Questions,
  uploadTo,
  WIKI_ENDPOINTS,
} from './compared-wikis.ts';
import { extent } from './extent.ts';
import { png } from './pictures.ts';
import { randomNumbers } from './random-numbers.ts';
import { putAccess } from './restrict.ts';
import { openTenants } from './tenants.ts';
import type { Client } from './world.ts';

/** RESTRICTIONS_SEED repeats a run. */
const SEED = Number(process.env.RESTRICTIONS_SEED || Date.now() % 1_000_000);
const WIKIS = extent(6, 1);
const STEPS = extent(60, 24);

const tenants = await openTenants();
const { world, a } = tenants;
const owner = world.as(tenants.owner.token, tenants.owner.user_id);
const [granted, member, viewer] = await Promise.all(
  (['member', 'member', 'viewer'] as const).map((role) => world.member(a.workspace_id, role)),
);

/** All texts have the same length, because the average length of hidden texts is part of scores. */
const WORDS = ['loom', 'warp', 'weft', 'shuttle', 'heddle', 'bobbin', 'treadle', 'reed', 'spindle', 'distaff'];
const TAGS = ['red', 'blue', 'green'];

/** One step, for a wiki with hidden pages or, if it is open, for both wikis. */
interface Step {
  isHidden: boolean;
  run(wiki: ComparedWiki, pages: Map<string, string>): Promise<void>;
}

/** Plans the steps of both wikis. The hidden pages are below `vaulta` and `vaultb`, the others below `open`. */
function plan(random: () => number): { tops: Record<string, string>; before: Step[]; after: Step[] } {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] ?? assert.fail('an empty list');
  const areas = { open: ['open'], hidden: ['vaulta', 'vaultb'] };
  let made = 0;

  const text = () => {
    const titles = [...areas.open, ...areas.hidden];
    const words = Array.from({ length: 12 }, () => pick(WORDS));
    words[3] = `[[${pick(titles)}]]`;
    words[7] = `[it](/${pick(titles)})`;
    return `---\ntags: [${pick(TAGS)}]\n---\n\n${words.join(' ')}\n`;
  };
  // So few that the same bytes are uploaded to hidden and to open pages.
  const files = Array.from({ length: 4 }, text);

  function step(canBeHidden: boolean): Step {
    const isHidden = canBeHidden && random() < 0.5;
    const labels = isHidden ? areas.hidden : areas.open;
    const by = isHidden ? granted : member;
    const author = (canBeHidden ? by : owner) ?? assert.fail();
    const label = pick(labels);
    const idOf = (pages: Map<string, string>, name = label) => pages.get(name) ?? assert.fail(name);
    const markdown = text();
    const kind = pick(['create', 'create', 'create', 'edit', 'edit', 'upload', 'attach', 'template', 'star', 'draft']);
    if (kind === 'create' || kind === 'draft') {
      const title = `p${(made += 1)}`;
      labels.push(title);
      const status = kind === 'draft' ? 'draft' : 'published';
      return {
        isHidden,
        async run({ api, ids }, pages) {
          const page = await must(
            await author.post(`${api}/pages`, { title, markdown, status, parent_page_id: idOf(pages) }),
          );
          pages.set(title, page.page_id);
          ids.set(page.page_id, title);
        },
      };
    }
    const name = `f${(made += 1)}.md`;
    const content = pick(files);
    return {
      isHidden,
      async run(wiki, pages) {
        const { api } = wiki;
        const at = `${api}/pages/${idOf(pages)}`;
        if (kind === 'edit') {
          const { revision } = await must(await author.get(at));
          await must(await author.patch(at, { markdown, base_revision: revision }));
        } else if (kind === 'upload') {
          const { path } = await must(await author.get(at));
          await uploadTo(world, wiki, author, name, { [`${path}/${name}`]: content });
        } else if (kind === 'attach') {
          const form = new FormData();
          form.set('file', new Blob([png() as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'x.png');
          await must(await author.send('POST', `${at}/attachments`, { body: form }));
        } else if (kind === 'template') {
          await must(await author.send('PUT', `${api}/templates/${idOf(pages)}`));
        } else {
          await must(await author.send('PUT', `${api}/starred-pages/${idOf(pages)}`));
        }
      },
    };
  }
  const before = Array.from({ length: STEPS / 3 }, () => step(false));
  const after = Array.from({ length: STEPS }, () => step(true));
  const tops = { open: text(), vaulta: text(), vaultb: text() };
  return { tops, before, after };
}

/** Makes the wiki of a plan, with the hidden pages or without them. */
async function make(
  slug: string,
  { tops, before, after }: ReturnType<typeof plan>,
  isWhole: boolean,
): Promise<ComparedWiki> {
  const wiki = await newComparedWiki(owner, a.workspace_id, slug);
  const { wiki_id, api, ids } = wiki;
  const pages = new Map<string, string>();
  const top = async (title: keyof typeof tops) => {
    const page = await must(await owner.post(`${api}/pages`, { title, markdown: tops[title] }));
    pages.set(title, page.page_id);
    ids.set(page.page_id, title);
    return { wiki_id, page_id: page.page_id as string };
  };
  await top('open');
  for (const { run } of before) await run(wiki, pages);
  if (isWhole) {
    const vaults = [await top('vaulta'), await top('vaultb')];
    await must(await putAccess(owner, vaults[0] ?? assert.fail(), { [granted?.user_id ?? '']: 'manage' }));
    await must(await putAccess(owner, vaults[1] ?? assert.fail(), { [granted?.user_id ?? '']: 'write' }));
  }
  for (const [i, { isHidden, run }] of after.entries()) {
    if (!isHidden || isWhole) await run(wiki, pages);
    if (i === after.length >> 1) await mergeIndexes(world, wiki);
  }
  await labelRest(wiki, granted ?? assert.fail());
  return wiki;
}

const readers = extent<Client[]>(
  [member, viewer].flatMap((one) => one ?? []),
  [member ?? assert.fail()],
);

/**
 * Compares the hits of searches while pages are pending. Their order can differ: merges happen at any time, and round
 * scores.
 */
async function compareFound(wikis: readonly ComparedWiki[], queries: readonly string[]): Promise<void> {
  for (const client of readers) {
    for (const query of queries) {
      for (const kind of ['pages', 'sources']) {
        const found = wikis.map(async (wiki) => {
          const address = `${wiki.api}/${kind}/search?limit=500&query=${encodeURIComponent(query)}`;
          const hits: { page_id?: string; source_id?: string }[] = await must(await client.get(address));
          return hits.map(({ page_id, source_id = '' }) => wiki.ids.get(page_id ?? source_id)).sort();
        });
        const [here, there] = await Promise.all(found);
        assert.deepEqual(here, there, query);
      }
    }
  }
}

for (let n = 0; n < WIKIS; n += 1) {
  const seed = SEED + n;
  test(`members without a grant cannot tell a random wiki from the same one without its restricted pages, seed ${seed}`, async () => {
    const steps = plan(randomNumbers(seed));
    const one = await make(`wiki-${2 * n + 1}`, steps, true);
    const two = await make(`wiki-${2 * n + 2}`, steps, false);
    const queries = [...WORDS.slice(0, 4), 'vault', 'p1', 'loom warp', 'lom', `"${WORDS[0]} ${WORDS[1]}"`, 'tag:red'];
    const questions: Questions = { queries, paths: Object.keys(steps.tops), tags: TAGS, unknown: tenants.unknown };
    await compareFound([one, two], queries);
    for (const wiki of [one, two]) await mergeIndexes(world, wiki);
    const different: string[] = [];
    for (const client of readers) {
      for (const endpoint of WIKI_ENDPOINTS) {
        for (const [address, inOther] of addressesOf(endpoint, [one, two], questions)) {
          const [answer, other] = [await client.get(address), await client.get(inOther)];
          assert.ok(answer.status < 500, address);
          const [here, there] = [masked(answer, one), masked(other, two)];
          if (here !== there) different.push(`${address}\n  ${here}\n  ${there}`);
        }
      }
    }
    assert.deepEqual(different, []);
  });
}
