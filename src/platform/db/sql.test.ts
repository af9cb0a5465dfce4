import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raw, sql, toStatement } from './sql.ts';

const onlyIf = (condition: boolean, value: string) => (condition ? sql`and slug = ${value}` : raw(''));
const list = (wiki_id: string, filtered: boolean, slug: string) =>
  toStatement(sql`select 1 from pages where wiki_id = ${wiki_id} ${onlyIf(filtered, slug)} limit ${10}`);

test('values become numbered placeholders in textual order, including values of nested fragments', () => {
  const { text, values } = list('wiki_1', true, 'home');
  assert.equal(text, 'select 1 from pages where wiki_id = $1 and slug = $2 limit $3');
  assert.deepEqual(values, ['wiki_1', 'home', 10]);
});

test('the same fragments give the same text for any values, and different fragments give a different text', () => {
  const first = list('wiki_1', true, 'home');
  const second = list('wiki_2', true, "'; drop table pages; --");
  assert.equal(second.text, first.text);
  assert.deepEqual(second.values, ['wiki_2', "'; drop table pages; --", 10]);
  assert.equal(list('wiki_1', false, 'home').text, 'select 1 from pages where wiki_id = $1  limit $2');
});

test('a fragment in the place of a value is spliced in, and a value in the place of a fragment is a placeholder', () => {
  const compare = (side: unknown) => toStatement(sql`select ${side} = 1`);
  assert.equal(compare(5).text, 'select $1 = 1');
  assert.equal(compare(raw('now()')).text, 'select now() = 1');
  assert.equal(compare(sql`${5}`).text, 'select $1 = 1');
});
