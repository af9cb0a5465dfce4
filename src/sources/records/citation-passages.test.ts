import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf } from '../../../test/plans.ts';
import { type Owner, openWorld } from '../../../test/world.ts';
import { sha256 } from '../../platform/core/secrets.ts';
import { sql } from '../../platform/db/sql.ts';
import type { Citation } from './schema.ts';

let sent: { text: string; values: readonly unknown[] }[] = [];
const world = await openWorld({}, { observe: (text, values) => sent.push({ text, values }) });

/** Characters after the last cited block, far more than the page shows. */
const REST = 1_000_000;

/**
 * Returns the citations of a page before and after its source text was lengthened, and the statements of the second
 * read.
 */
async function citationsOf(owner: Owner, name: string, text: string, longer: ReturnType<typeof sql>) {
  await world.upload(owner, owner.wiki_id, { [`${name}.md`]: text });
  const { body: page } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/${name}`);
  const at = `/v1/wikis/${owner.wiki_id}/pages/${page.page_id}/citations`;
  const before: Citation[] = (await owner.get(at)).body;
  assert.ok(before.length > 0 && before.every(({ verified }) => verified));
  await world.db.query(sql`update source_texts set text = ${longer} where source_id = ${before[0]?.source_id ?? ''}`);
  sent = [];
  const after: Citation[] = (await owner.get(at)).body;
  return { before, after, statements: sent.filter((each) => each.text.includes('source_texts')) };
}

test('the citations of a page read only the cited part of a source, however long its text is', async () => {
  const owner = await world.owner();
  const longer = sql`text || repeat('x', ${REST}::int)`;
  const { before, after, statements } = await citationsOf(owner, 'a', '# A\n\nOne.\n\nTwo.\n', longer);
  assert.deepEqual(after, before);
  assert.equal(statements.length, 1);
  const [statement] = statements;
  assert.ok(statement);
  const context = sql`
    select set_request_context('key', ${sha256(owner.token ?? '')}::bytea, null, null, null, ${owner.wiki_id}, null, null)`;
  const read = JSON.stringify(await rowsOf(world.db, context, statement)).length;
  assert.ok(read < REST / 10, `${read} characters are read`);
});

test('characters of two UTF-16 units in a source text leave its citations unchanged', async () => {
  const owner = await world.owner();
  const text = '# 😀 A\n\nOne 𝒳 and 👩‍👩‍👧.\n\nTwo.\n\nTwo.\n';
  const same = await citationsOf(owner, 'b', text, sql`text || ${'😀'.repeat(10)}::text`);
  assert.deepEqual(
    same.before.map(({ quote }) => quote),
    ['😀 A', 'One 𝒳 and 👩‍👩‍👧.', 'Two.', 'Two.'],
  );
  assert.deepEqual(same.after, same.before);
  assert.equal(same.statements.length, 1);
});

test('the whole text is read if such characters precede the first passage, and citations are the same', async () => {
  const owner = await world.owner();
  const { before } = await citationsOf(owner, 'c', '# A\n\nOne.\n\nTwo.\n', sql`'😀😀' || text`);
  const [{ source_id = '' } = {}] = before;
  const four = sql`array(select place + 4 from unnest(starts) place), ends = array(select place + 4 from unnest(ends) place)`;
  await world.db.query(sql`update page_sources set starts = ${four} where source_id = ${source_id}`);
  sent = [];
  const { body: page } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/path/c`);
  const { body: after } = await owner.get(`/v1/wikis/${owner.wiki_id}/pages/${page.page_id}/citations`);
  assert.deepEqual(
    after,
    before.map((citation) => ({ ...citation, start: citation.start + 4, end: citation.end + 4 })),
  );
  assert.equal(sent.filter((each) => each.text.includes('source_texts')).length, 2);
});
