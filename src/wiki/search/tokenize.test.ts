import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { indexBody, indexTitle, readCounts } from '@ibid/markdown/analysis/document-terms.ts';
import { beginningOf } from '@ibid/markdown/analysis/stem.ts';
import { termOf, tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import fc from 'fast-check';
import { anyText } from '../../../test/any-text.ts';
import { extent } from '../../../test/extent.ts';
import { makeDatabase, openOwner } from '../../../test/world.ts';
import { PACKAGE } from '../../platform/core/package/package-files.ts';
import { sql } from '../../platform/db/sql.ts';
import { lengthOf } from './index/impacts.ts';

const RUNS = Number(process.env.SEARCH_RUNS ?? extent(2_000, 300));
const terms = (text: string) => [...tokenize(text)].map(({ term }) => term);
const words = (text: string) => [...tokenize(text)].map(({ word }) => word);

test('case, width, accents and punctuation are ignored; marks that are part of a letter are kept', () => {
  assert.deepEqual(words('Ｃａｆé ZÜRICH cafe\u0301'), ['cafe', 'zurich', 'cafe']);
  assert.deepEqual(words('Get_Child-Item R&D .env 3.14'), ['get', 'child', 'item', 'r', 'd', 'env', '3', '14']);
  assert.deepEqual(words('がか'), ['がか']);
  assert.deepEqual(words('한국어'), ['한국', '국어']);
  assert.deepEqual(words('東京都 水 iPhone用'), ['东京', '京都', '水', 'iphone', '用']);
});

test('spellings that people use interchangeably have the same terms', () => {
  for (const [one, other] of [
    ['Straße', 'strasse'],
    ['軟體', '软体'],
    ['œuvre', 'oeuvre'],
    ['smørrebrød', 'smorrebrod'],
    ['Łódź', 'lodz'],
    ['đường', 'duong'],
    ['ılık', 'ilik'],
    ['كتـــاب', 'كتاب'],
    ['٣٤', '34'],
    ['१२', '12'],
    ['ज़रूर', 'जरूर'],
    ['Donau\u00addampf', 'donaudampf'],
    ['zero\u200bwidth', 'zerowidth'],
    ['リンゴ', 'りんご'],
  ] as const) {
    assert.deepEqual(terms(one), terms(other), `${one} and ${other}`);
  }
});

test('forms of a word have one term, by the script of the word', () => {
  for (const forms of [
    ['книга', 'книги', 'книгами'],
    ['δρόμος', 'δρόμου'],
    ['كتاب', 'الكتاب', 'والكتاب', 'كتابها'],
    ['ספר', 'הספר', 'ספרים'],
  ]) {
    assert.equal(new Set(forms.flatMap(terms)).size, 1, `${forms}: ${forms.flatMap(terms)}`);
  }
  assert.equal(beginningOf(termOf('lehrerin')), beginningOf(termOf('lehrer')));
  assert.notEqual(termOf('море'), termOf('моряк'));
});

test('names with signs, and words written as one or as two, have a joined term in addition to the terms of their parts', () => {
  const joined = (text: string) => [...tokenize(text)].flatMap(({ extra }) => extra.map(({ term }) => term));
  assert.ok(joined('0x80070057').includes('80070057'));
  for (const [text, ...expected] of [
    ['Wi-Fi', 'wifi'],
    ["O'Brien", 'obrien'],
    ['node.js', 'nodej'],
    ['max_file_size', 'maxfiles'],
    ['1,000,000', '1000000'],
    ['192.168.0.1', '192.168.0.1'],
    ['/etc/passwd', 'etcpasswd'],
    ['AT&T', 'att'],
    ['C# and C++', 'c#', 'c++'],
    ['use .NET', '.net'],
    ['getUserName', 'get', 'user', 'name'],
    ['to be or not to be', 'to_be_or_not', 'be_or_not_to', 'or_not_to_be'],
    ['phở', 'phở'],
    ['one, two. three', ...[]],
    ["l'homme", ...[]],
  ] as [string, ...string[]][]) {
    const found = joined(text);
    for (const term of expected) assert.ok(found.includes(term), `${text}: ${found}`);
    if (expected.length === 0) assert.deepEqual(found, [], text);
  }
  assert.deepEqual(words('🚀 up'), ['🚀', 'up']);
  assert.deepEqual(words('👩🏽‍🚀'), words('👩‍🚀'));
  assert.deepEqual(words('👍🏽👍'), ['👍', '👍']);
});

test('names in code are found by their parts', () => {
  for (const index of [indexTitle, indexBody]) {
    const found = [...readCounts(index('Get-ChildItem of the HTTPServer').terms).keys()];
    for (const term of ['get', 'childitem', 'child', 'item', 'http', 'server']) {
      assert.ok(found.includes(term), `${term} of ${found}`);
    }
  }
  const inTitle = readCounts(indexTitle('Get-ChildItem of the HTTPServer').terms);
  assert.ok(inTitle.has('the') && inTitle.has('^childitem'));
  assert.equal(lengthOf(inTitle), 3, 'neither parts nor stop words make a title longer');
});

test("stems equal PostgreSQL's for at least 999 of 1000 English words", async () => {
  const db = openOwner(await makeDatabase());
  const text = ['README.md', 'ARCHITECTURE.md', 'package.json', 'openapi.json']
    .map((path) => readFileSync(new URL(path, PACKAGE), 'utf8'))
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
    fc.property(anyText({ maxLength: 200 }), (text) => {
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
