import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenize } from '@ibid/markdown/analysis/tokenize.ts';
import fc from 'fast-check';
import { anyText } from '../../../../test/any-text.ts';
import { extent } from '../../../../test/extent.ts';
import { findPhrase } from './find-phrase.ts';
import { findTerms } from './find-words.ts';
import { bestPassage } from './snippet.ts';

const RUNS = Number(process.env.SEARCH_RUNS ?? extent(2_000, 300));
const termsOf = (text: string) => new Set([...tokenize(text)].map(({ term }) => term));
const plain = (html: string) =>
  html
    .replace(/<\/?mark>/g, '')
    .replace(
      /&(amp|lt|gt|quot|#39);/g,
      (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name as string] ?? "'",
    );

test('a passage marks words with accents, other forms of words, and words of scripts without spaces', () => {
  assert.equal(
    bestPassage('Ein Café, zwei CAFÉS.', termsOf('cafe')).snippet,
    'Ein <mark>Café</mark>, zwei <mark>CAFÉS</mark>.',
  );
  assert.equal(
    bestPassage('Happiness is <b>happy</b>.', termsOf('happy')).snippet,
    '<mark>Happiness</mark> is &lt;b&gt;<mark>happy</mark>&lt;/b&gt;.',
  );
  assert.equal(bestPassage('これは検索のテストです', termsOf('検索')).snippet, 'これは<mark>検索</mark>のテストです');
  assert.equal(bestPassage('東京都庁', termsOf('東京都')).snippet, '<mark>東京都</mark>庁');
});

test('the best passage contains the most terms', () => {
  const far = 'filler '.repeat(100);
  const { snippet, offset } = bestPassage(`apple ${far} apple and pear ${far} pear`, termsOf('apple pear'));
  assert.match(snippet, /<mark>apple<\/mark> and <mark>pear<\/mark>/);
  assert.equal(offset, 'apple '.length + far.length + 1);
});

test('for any text and query, a passage is escaped text of the page with <mark> as its only element', () => {
  const text = fc.oneof(
    anyText({ maxLength: 600 }),
    fc
      .array(fc.constantFrom('<b>', 'install', 'é', '検索', '&amp;', '"', ' ', '\n', 'installing', '😀'))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, fc.string({ maxLength: 30 }), (words, query) => {
      const { snippet } = bestPassage(words, new Set([...termsOf(query), ...[...termsOf(words)].slice(0, 3)]));
      assert.doesNotMatch(snippet.replace(/<\/?mark>/g, ''), /[<>"']/);
      assert.equal((snippet.match(/<mark>/g) ?? []).length, (snippet.match(/<\/mark>/g) ?? []).length);
      assert.ok(words.replace(/\s+/g, ' ').includes(plain(snippet)), JSON.stringify({ words, snippet }));
    }),
    { numRuns: RUNS },
  );
});

test('findTerms finds the same occurrences as tokenizing the whole text', () => {
  const word = fc.constantFrom(
    'installs',
    'installed',
    'Installer',
    'café',
    'CAFE',
    'the',
    'x',
    '検索する',
    'happiness',
    'happy',
    'relational',
    'dogs',
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), word, (all, wanted) => {
      const text = all.join(' ');
      const terms = termsOf(wanted);
      const read = [...tokenize(text)].filter(({ term }) => terms.has(term)).map(({ start }) => start);
      assert.deepEqual(
        findTerms(text, terms).map(({ start }) => start),
        [...new Set(read)],
      );
    }),
    { numRuns: RUNS },
  );
});

test('a phrase is found only where its words are adjacent', () => {
  const phrase = (text: string) => [...tokenize(text)].map(({ term }) => term);
  assert.ok(findPhrase('The state of the art is here.', phrase('state of the art')));
  assert.ok(!findPhrase('The art of the state.', phrase('state of the art')));
  assert.ok(findPhrase('全文検索の実装', phrase('検索の実')));
});
