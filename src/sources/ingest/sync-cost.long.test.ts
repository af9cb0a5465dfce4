import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newFolderWiki } from '../../../test/folder-wiki.ts';
import { openWorld } from '../../../test/world.ts';
import { zipOf } from '../../../test/zip.ts';
import type { Query } from '../../platform/db/db.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { goneFiles } from './sync-folder.ts';

const world = await openWorld();
const owner = await world.owner();

interface Plan {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Plan[];
}

/** Sums the rows that all steps of a plan examined. */
function rowsOf(plan: Plan): number {
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0);
  const own = (plan['Actual Rows'] + removed) * plan['Actual Loops'];
  return (plan.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), own);
}

/**
 * Returns the rows examined to find missing files in a folder of `count` files, with a third as many subfolders and
 * some other uploads.
 */
async function rowsRead(count: number): Promise<number> {
  const wiki = await newFolderWiki(owner);
  const files = Array.from({ length: count }, (_, i) => [`d/f${i % (count / 3)}/${i}.md`, `# Number ${i}\n`] as const);
  const archive = { 'all.zip': zipOf(files) };
  await wiki.sync(archive);
  for (let n = 0; n < 5; n += 1) await wiki.add({ 'other/a.md': `# A ${n}\n` });
  const upload_id = await wiki.begin(archive);
  await wiki.ended(upload_id);
  let rows = 0;
  const counting = (async (statement: Sql) => {
    const [row] = await world.db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(sql`
      explain (analyze, format json) ${statement}`);
    rows += row ? rowsOf(row['QUERY PLAN'][0].Plan) : 0;
    return [];
  }) as Query;
  await goneFiles(counting, { wiki_id: wiki.wiki_id, upload_id });
  return rows;
}

test('finding missing files examines each file once, not every pair', async () => {
  const [few, many] = [await rowsRead(120), await rowsRead(480)];
  assert.ok(few > 120 && many < 6 * few, `${few} rows for 120 files, ${many} for 480`);
});
