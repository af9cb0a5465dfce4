import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { sql } from '../src/platform/db/sql.ts';
import { type Files, newFolderWiki } from './folder-wiki.ts';
import { openRoles } from './process.ts';
import { randomNumbers } from './random-numbers.ts';
import { until } from './until.ts';
import { zipOf } from './zip.ts';

/**
 * SYNC_KILLS: number of syncs to kill. KILL_SEED: seed of the first sync; each later sync adds one. The short form
 * always uses the same seed: the target of a `[[Title]]` is resolved when the link is written, so with a random folder
 * it may depend on the kill.
 */
const { SYNC_KILLS, KILL_SEED } = process.env;
const ROUNDS = Number(SYNC_KILLS || 1);
const SEED = Number(KILL_SEED || (SYNC_KILLS ? randomInt(2 ** 31) : 233));
/** Enough for several transactions. */
const FILES = 240;
const FOLDERS = 15;
/** Kills per sync, at most: a file that is in work at three kills fails. */
const KILLS = 2;

const { world, start } = await openRoles();
const { query } = world.db;

await start('web');
let worker = await start('worker');
const owner = await world.owner();

type Wiki = Awaited<ReturnType<typeof newFolderWiki>>;
const zipped = (files: Files): Files => ({ 'all.zip': zipOf(Object.entries(files)) });

/**
 * Returns a folder whose files link to each other, and the same folder after files were edited, moved, swapped, removed
 * and added.
 */
function folders(random: () => number): { before: Files; after: Files; names: string[] } {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const folder = () => `d/f${Math.floor(random() * FOLDERS)}`;
  const names = Array.from({ length: FILES }, (_, i) => `${folder()}/n${i}.md`);
  const text = (i: number, more = '') =>
    `# Page ${i}\n\nSee [one](../../${pick(names)}) and [[Page ${Math.floor(random() * FILES)}]].\n\nWhat ${i} says.${more}\n`;
  const before: Files = Object.fromEntries(names.map((name, i) => [name, text(i)]));
  const after: Files = { ...before };
  // Change each file at most once, so that only one page ever has a title: the target of a title is resolved when the
  // link is written, and so depends on how files are divided into transactions.
  const changed = new Set<string>();
  for (const [i, name] of names.entries()) {
    const other = pick(names);
    const chance = random();
    if (chance > 0.4 || changed.has(name) || changed.has(other) || name === other) continue;
    const [own, others] = [before[name] ?? '', before[other] ?? ''];
    changed.add(name);
    if (chance < 0.08) after[name] = `${own}\nIt was edited.\n`;
    else if (chance < 0.12) after[`d/new/n${i}.md`] = text(i + FILES);
    else if (chance < 0.18) delete after[name];
    else if (chance < 0.3) {
      delete after[name];
      after[`${folder()}/moved${i}.md`] = own;
    } else {
      // Swap two files, or let one take the name of another, which moves to a new name.
      changed.add(other);
      after[name] = others;
      if (chance < 0.35) after[other] = own;
      else {
        delete after[other];
        after[`${folder()}/moved${i}.md`] = own;
      }
    }
  }
  return { before, after, names };
}

/** Makes the same edits to the same pages, given the same random numbers. */
async function edit(wiki: Wiki, names: readonly string[], random: () => number): Promise<void> {
  for (const name of names) {
    if (random() > 0.06) continue;
    const path = name.replace('.md', '');
    const { markdown } = await wiki.page(path);
    await wiki.edit(path, random() < 0.5 ? `${markdown}\nBy hand.\n` : markdown.replace('says', 'says, by hand'));
  }
}

/** Returns the contents of a wiki, without ids and times. */
function stateOf({ wiki_id }: Wiki) {
  return query(sql`
    select p.path, p.title, p.stale, p.gone_file, p.revision, p.origin, p.parent_path, p.position, p.trashed_at is not null as is_trashed,
      (select json_agg(json_build_array(r.revision, r.origin, r.markdown) order by r.revision) from revisions r
        where r.wiki_id = p.wiki_id and r.page_id = p.page_id) as revisions,
      (select json_agg(o.path order by o.path) from page_paths o where o.wiki_id = p.wiki_id and o.page_id = p.page_id) as paths,
      (select json_agg(coalesce(t.path, l.to_path) order by coalesce(t.path, l.to_path)) from page_links l
        left join pages t on t.wiki_id = l.wiki_id and t.page_id = l.to_page_id
        where l.wiki_id = p.wiki_id and l.from_page_id = p.page_id) as links,
      (select b.waiting_markdown from page_bases b where b.wiki_id = p.wiki_id and b.page_id = p.page_id) as waiting
    from pages p where p.wiki_id = ${wiki_id} order by p.path, p.title`);
}

async function progressOf(upload_id: string): Promise<{ done: number; has_ended: boolean }> {
  const [row] = await query<{ done: number; has_ended: boolean }>(sql`
    select count(*) filter (where f.status = 'done')::int as done, bool_or(u.finished_at is not null) as has_ended
    from uploads u join upload_files f using (wiki_id, upload_id) where upload_id = ${upload_id}`);
  return row ?? { done: 0, has_ended: false };
}

/**
 * Kills the worker at, or shortly after, the moment when this many files of the upload are done, and restarts it.
 * Returns the number of files done at the kill.
 */
async function killAt(upload_id: string, done: number, pause: number): Promise<number> {
  await until(
    `${done} files are done`,
    () => progressOf(upload_id),
    (now) => now.has_ended || now.done >= done,
  );
  await new Promise((resolve) => setTimeout(resolve, pause));
  worker.kill('SIGKILL');
  await worker.ended;
  // Expires the lease at once.
  await query(sql`with gone as (delete from workers) update jobs set failures = 0 where status = 'running'`);
  const killed = await progressOf(upload_id);
  worker = await start('worker');
  return killed.done;
}

for (let round = 0; round < ROUNDS; round += 1) {
  const seed = SEED + round;
  test(`a sync killed at any moment ends like an undisturbed one (seed ${seed})`, async (t) => {
    const { before, after, names } = folders(randomNumbers(seed));
    const [whole, killed] = [await newFolderWiki(owner), await newFolderWiki(owner)];
    for (const wiki of [whole, killed]) {
      assert.equal((await wiki.sync(zipped(before))).status, 'completed');
      await edit(wiki, names, randomNumbers(seed + 1));
    }
    const expected = await whole.sync(zipped(after));
    const upload_id = await killed.begin(zipped(after));
    const random = randomNumbers(seed + 2);
    const kills = 1 + Math.floor(random() * KILLS);
    for (let kill = 0; kill < kills; kill += 1) {
      const done = await killAt(upload_id, Math.floor(random() * random() * FILES), random() * random() * 500);
      t.diagnostic(`killed with ${done} of ${Object.keys(after).length} files done`);
    }
    const { summary } = await killed.ended(upload_id);
    assert.equal(summary, expected.summary);
    assert.deepEqual(await stateOf(killed), await stateOf(whole));
    for (const wiki of [whole, killed]) {
      const again = (await wiki.sync(zipped(after))).summary;
      assert.doesNotMatch(
        again,
        /of missing files|[1-9]\d* new page|pages? (?:updated|moved)/,
        'the same again changes nothing',
      );
    }
    assert.deepEqual(await stateOf(killed), await stateOf(whole));
  });
}
