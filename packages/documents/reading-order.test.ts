import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../test/extent.ts';
import { byReadingOrder } from './reading-order.ts';

test('files are in the order of chapters: folders after their own page, numbers as numbers, an index first', () => {
  const inOrder = [
    'README.md',
    '1 Start.md',
    '2-install',
    '2-install/index.md',
    '2-install/linux.md',
    '2-install/Windows.md',
    '10 Upgrade.md',
    'appendix/ä.md',
    'appendix/a1.md',
    'appendix/a2.md',
    'appendix/a10.md',
  ];
  assert.deepEqual(inOrder.toReversed().sort(byReadingOrder), inOrder);
});

test('the comparison is a total order of names', () => {
  const name = fc.array(fc.constantFrom('a', 'A', 'ä', '1', '01', '10', 'index.md', 'README.md', ''), { maxLength: 3 });
  const path = name.map((parts) => parts.join('/'));
  fc.assert(
    fc.property(path, path, path, (a, b, c) => {
      assert.equal(Math.sign(byReadingOrder(a, b)), -Math.sign(byReadingOrder(b, a)) || 0);
      assert.equal(byReadingOrder(a, b) === 0, a === b);
      if (byReadingOrder(a, b) <= 0 && byReadingOrder(b, c) <= 0) assert.ok(byReadingOrder(a, c) <= 0);
    }),
    { numRuns: extent(2_000, 300) },
  );
});
