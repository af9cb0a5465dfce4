import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundLosses, countCharacters, LOSSES_MAX, type Loss, lostText, unaccounted } from './losses.ts';

test('a list of losses is truncated at its limit, and counts the losses that it does not name', () => {
  const all = Array.from({ length: 4_000 }, (_, i): Loss => {
    return { ...lostText(i % 3 === 0 ? 'comment' : 'equation', 'x + 1'), first_page: i, last_page: i };
  });
  const bounded = boundLosses(all);
  assert.ok(bounded.length <= LOSSES_MAX);
  const sum = (losses: readonly Loss[], field: 'count' | 'characters') =>
    losses.reduce((total, loss) => total + loss[field], 0);
  assert.equal(sum(bounded, 'count'), 4_000);
  assert.equal(sum(bounded, 'characters'), 12_000);
  assert.equal(Math.max(...bounded.map(({ last_page }) => last_page)), 3_999);
  assert.deepEqual(boundLosses(all.slice(0, LOSSES_MAX)), all.slice(0, LOSSES_MAX));
});

test('texts of a loss are short, on one line, and storable in a database', () => {
  const [loss] = boundLosses([{ ...lostText('comment', `a\0\n ${'😀'.repeat(100)}`, ' here\n'), count: 1e12 }]);
  assert.equal(loss?.excerpt, `a ${'😀'.repeat(49)}`);
  assert.equal(loss?.place, 'here');
  assert.equal(loss?.count, 2 ** 31 - 1);
  assert.equal(boundLosses([lostText('comment', `${'x'.repeat(99)}😀`)])[0]?.excerpt, 'x'.repeat(99));
});

test('characters are counted without white space', () => {
  assert.equal(countCharacters(' a b\n\tc\u00a0 '), 3);
});

test('text that is neither shown nor listed becomes a loss itself', () => {
  const listed = [lostText('comment', 'x'.repeat(100))];
  assert.equal(unaccounted(listed, 600, 'y'.repeat(500)), undefined);
  assert.equal(unaccounted([], 600, 'y'.repeat(500))?.characters, 100);
  assert.equal(unaccounted([], 520, 'y'.repeat(500)), undefined, 'a few characters are written differently');
  assert.equal(unaccounted([], 10_050, 'y'.repeat(10_000)), undefined, 'in a PDF so are hyphens at the ends of lines');
  assert.equal(unaccounted([], 10_050, 'y'.repeat(10_000), 'epub')?.characters, 50);
  assert.equal(unaccounted([], undefined, ''), undefined, 'nothing was counted');
});
