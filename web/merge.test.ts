import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { merge } from './merge.ts';

const text = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd d'), { maxLength: 9 }).map((lines) => lines.join('\n'));
const options = { numRuns: Number(process.env.FUZZ_RUNS ?? 2_000) };

test('who changed nothing gets what the other one made', () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      assert.deepEqual(merge(base, base, changed), { text: changed, conflicts: 0 });
      assert.deepEqual(merge(base, changed, base), { text: changed, conflicts: 0 });
    }),
    options,
  );
});

test('two who made the same of it agree', () => {
  fc.assert(
    fc.property(text, text, (base, changed) =>
      assert.deepEqual(merge(base, changed, changed), { text: changed, conflicts: 0 }),
    ),
    options,
  );
});

test('every line that somebody added is in what comes of it', () => {
  fc.assert(
    fc.property(text, text, text, (base, mine, theirs) => {
      const added = `${mine}\nonly mine`;
      const others = `only theirs\n${theirs}`;
      const lines = merge(base, added, others).text.split('\n');
      assert.ok(lines.includes('only mine') && lines.includes('only theirs'));
    }),
    options,
  );
});

test('changes at different places are both there, and changes at one place are marked', () => {
  const base = 'one\ntwo\nthree\nfour\nfive';
  assert.deepEqual(merge(base, 'ONE\ntwo\nthree\nfour\nfive', 'one\ntwo\nthree\nfour\nFIVE'), {
    text: 'ONE\ntwo\nthree\nfour\nFIVE',
    conflicts: 0,
  });
  assert.deepEqual(merge(base, 'one\ntwo\nmine\nfour\nfive', 'one\ntwo\ntheirs\nfour\nfive'), {
    text: 'one\ntwo\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> theirs\nfour\nfive',
    conflicts: 1,
  });
});
