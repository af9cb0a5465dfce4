import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { mergeTexts } from './merge-texts.ts';

const text = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd d'), { maxLength: 9 }).map((lines) => lines.join('\n'));
const options = { numRuns: Number(process.env.FUZZ_RUNS ?? extent(2_000, 300)) };

test('if one side has no changes, the result is the other side', () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      assert.deepEqual(mergeTexts(base, base, changed), { text: changed, conflicts: 0 });
      assert.deepEqual(mergeTexts(base, changed, base), { text: changed, conflicts: 0 });
    }),
    options,
  );
});

test('identical changes on both sides do not conflict', () => {
  fc.assert(
    fc.property(text, text, (base, changed) =>
      assert.deepEqual(mergeTexts(base, changed, changed), { text: changed, conflicts: 0 }),
    ),
    options,
  );
});

test('every line that either side added is in the result', () => {
  fc.assert(
    fc.property(text, text, text, (base, mine, theirs) => {
      const added = `${mine}\nonly mine`;
      const others = `only theirs\n${theirs}`;
      const lines = mergeTexts(base, added, others).text.split('\n');
      assert.ok(lines.includes('only mine') && lines.includes('only theirs'));
    }),
    options,
  );
});

test('changes of different lines are merged, and changes of the same lines are marked as conflicts', () => {
  const base = 'one\ntwo\nthree\nfour\nfive';
  assert.deepEqual(mergeTexts(base, 'ONE\ntwo\nthree\nfour\nfive', 'one\ntwo\nthree\nfour\nFIVE'), {
    text: 'ONE\ntwo\nthree\nfour\nFIVE',
    conflicts: 0,
  });
  assert.deepEqual(mergeTexts(base, 'one\ntwo\nmine\nfour\nfive', 'one\ntwo\ntheirs\nfour\nfive'), {
    text: 'one\ntwo\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> theirs\nfour\nfive',
    conflicts: 1,
  });
});

test('a change of line endings is no change, and the merge keeps the line endings of the own text', () => {
  const base = 'one\r\ntwo\r\nthree\r\nfour\r\n';
  const theirs = 'one\r\ntwo\r\nthree\r\nFOUR\r\n';
  const mine = 'ONE\ntwo\nthree\nfour\n';
  assert.deepEqual(mergeTexts(base, mine, theirs), { text: 'ONE\ntwo\nthree\nFOUR\n', conflicts: 0 });
  assert.deepEqual(mergeTexts(base, theirs, mine), { text: 'ONE\r\ntwo\r\nthree\r\nFOUR\r\n', conflicts: 0 });
});

test('merging is bounded for texts of any length: texts that differ too much conflict, and no line is lost', () => {
  const lines = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i)).join('\n');
  const empty = '\n'.repeat(1_500_000);
  assert.deepEqual(mergeTexts(empty, `${empty}mine`, `theirs${empty}`), { text: `theirs${empty}mine`, conflicts: 0 });
  const base = lines(100_000, (i) => `${i}`);
  const mine = lines(100_000, (i) => (i % 4 === 0 ? `mine ${i}` : `${i}`));
  const theirs = lines(100_000, (i) => (i % 4 === 2 ? `theirs ${i}` : `${i}`));
  const both = lines(100_000, (i) => (i % 4 === 0 ? `mine ${i}` : i % 4 === 2 ? `theirs ${i}` : `${i}`));
  assert.deepEqual(mergeTexts(base, mine, theirs), { text: both, conflicts: 0 });
  const shuffled = lines(50_000, (i) => `${(i * 7_919) % 50_000}`);
  const { text, conflicts } = mergeTexts(
    shuffled,
    lines(50_000, String),
    lines(50_000, (i) => `${49_999 - i}`),
  );
  assert.ok(conflicts > 0);
  assert.ok(text.split('\n').length >= 100_000);
});
