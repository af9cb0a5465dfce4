import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeDatabase, openOwner } from '../../test/world.ts';
import { sql } from '../db/sql.ts';
import { indexTitle, readCounts } from './document-terms.ts';
import { termOf, tokenize } from './tokenize.ts';

const RUNS = Number(process.env.SEARCH_RUNS ?? 2_000);
const words = (text: string) => [...tokenize(text)].map(({ word }) => word);

test('case, width, accents and punctuation are ignored; marks that are part of a letter are kept', () => {
  assert.deepEqual(words('Ｃａｆé ZÜRICH cafe\u0301'), ['cafe', 'zurich', 'cafe']);
  assert.deepEqual(words('Get_Child-Item R&D .env 3.14'), ['get', 'child', 'item', 'r', 'd', 'env', '3', '14']);
  assert.deepEqual(words('がか'), ['がか']);
  assert.deepEqual(words('한국어'), ['한국', '국어']);
  assert.deepEqual(words('東京都 水 iPhone用'), ['東京', '京都', '水', 'iphone', '用']);
});

test('names in code are found by their parts in titles', () => {
  const terms = [...readCounts(indexTitle('Get-ChildItem of the HTTPServer').terms).keys()];
  for (const term of ['get', 'childitem', 'child', 'item', 'http', 'server', 'the', '^childitem']) {
    assert.ok(terms.includes(term), `${term} of ${terms}`);
  }
});

test("stems equal PostgreSQL's for at least 999 of 1000 English words", async () => {
  const db = openOwner(await makeDatabase());
  const text = ['../../README.md', '../../ARCHITECTURE.md', '../../package.json', '../../openapi.json']
    .map((path) => readFileSync(new URL(path, import.meta.url), 'utf8'))
    .join(' ');
  const known = [...new Set(text.toLowerCase().match(/[a-z]{2,30}/g))];
  const endings = [
    '',
    's',
    'ed',
    'ing',
    'ness',
    'ation',
    'ational',
    'ly',
    'ies',
    'able',
    'ful',
    'izer',
    'ment',
    'ous',
    'ive',
  ];
  const all = [...new Set(known.flatMap((word) => endings.map((ending) => word + ending)))];
  const rows = await db.query<{ word: string; stem: string }>(sql`
    select w as word, (ts_lexize('english_stem', w))[1] as stem from unnest(${all}::text[]) w
    where cardinality(ts_lexize('english_stem', w)) > 0`);
  const wrong = rows.filter(({ word, stem }) => termOf(word) !== stem);
  assert.ok(rows.length > 5_000 && wrong.length <= rows.length / 1_000, JSON.stringify(wrong.slice(0, 20)));
});

test('the offsets of tokens are inside the text and ascend, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      let before = 0;
      for (const { word, term, start, end } of tokenize(text)) {
        assert.ok(start >= before && end > start && end <= text.length, JSON.stringify({ word, start, end }));
        assert.ok(word !== '' && term !== '' && !/[\s:]/u.test(term) && word.length <= 64);
        before = start;
      }
    }),
    { numRuns: RUNS },
  );
});
