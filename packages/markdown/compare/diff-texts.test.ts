import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extent } from '../../../test/extent.ts';
import { diffTexts, type TextDiff } from './diff-texts.ts';

const lines = (n: number, line: (i: number) => string) => Array.from({ length: n }, (_, i) => line(i)).join('\n');

/** Applies a diff: replaces the hunks in the old text. */
function apply(from: string, { hunks }: TextDiff): string {
  const before = from.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let result = '';
  let at = 0;
  for (const { from_line, from_count, lines: shown } of hunks) {
    const start = from_count > 0 ? from_line - 1 : from_line;
    result += before.slice(at, start).join('');
    result += shown
      .filter(({ kind }) => kind !== 'removed')
      .map(({ text }) => `${text}\n`)
      .join('');
    at = start + from_count;
  }
  return result + before.slice(at).join('');
}

/** Removes the carriage returns of line endings. */
const plain = (text: string) => text.replaceAll('\r\n', '\n');

test('applying the hunks to the old text gives the new text, and the counts match the lines', () => {
  const text = fc
    .array(fc.constantFrom('', 'a', 'b', 'one two', 'one three', ' ', 'ä\r', '<b>'), { maxLength: 40 })
    .map((all) => all.map((line) => `${line}\n`).join(''));
  fc.assert(
    fc.property(text, text, (from, to) => {
      const diff = diffTexts(from, to);
      const [plainFrom, plainTo] = [plain(from), plain(to)];
      assert.equal(apply(plainFrom, diff), plainTo);
      const shown = diff.hunks.flatMap((hunk) => hunk.lines);
      for (const kind of ['added', 'removed'] as const) {
        assert.equal(shown.filter((line) => line.kind === kind).length, diff[kind]);
      }
      for (const { from_count, to_count, lines: ofHunk } of diff.hunks) {
        assert.equal(ofHunk.filter(({ kind }) => kind !== 'added').length, from_count);
        assert.equal(ofHunk.filter(({ kind }) => kind !== 'removed').length, to_count);
      }
      for (const { kind, text: whole, segments } of shown) {
        assert.ok(kind !== 'context' || segments.length === 0);
        if (segments.length > 0) assert.equal(segments.map((segment) => segment.text).join(''), whole);
        assert.ok(segments.every((segment) => segment.kind === 'same' || segment.kind === kind));
      }
      assert.equal(diff.hunks.length === 0, plainFrom === plainTo);
    }),
    { numRuns: extent(500, 100) },
  );
});

test('a change of line endings is no change', () => {
  const windows = '# A\r\n\r\none\r\ntwo\r\n';
  assert.deepEqual(diffTexts(windows, plain(windows)).hunks, []);
  const { added, removed } = diffTexts(windows, '# A\n\none\nthree\n');
  assert.deepEqual([added, removed], [1, 1]);
});

test('a partly changed line has word segments, and a new line has no segments', () => {
  const { hunks } = diffTexts('Install Acme first.\n', 'Install Ajax first.\n\nAnd read this.\n');
  assert.deepEqual(hunks, [
    {
      from_line: 1,
      from_count: 1,
      to_line: 1,
      to_count: 3,
      lines: [
        {
          kind: 'removed',
          text: 'Install Acme first.',
          segments: [
            { kind: 'same', text: 'Install ' },
            { kind: 'removed', text: 'Acme' },
            { kind: 'same', text: ' first.' },
          ],
        },
        {
          kind: 'added',
          text: 'Install Ajax first.',
          segments: [
            { kind: 'same', text: 'Install ' },
            { kind: 'added', text: 'Ajax' },
            { kind: 'same', text: ' first.' },
          ],
        },
        { kind: 'added', text: '', segments: [] },
        { kind: 'added', text: 'And read this.', segments: [] },
      ],
    },
  ]);
});

test('distant changes are separate hunks, with three lines of context each', () => {
  const before = lines(40, (i) => `line ${i}`);
  const { hunks, added, removed } = diffTexts(before, before.replace('line 5\n', '').replace('line 30', 'else'));
  assert.deepEqual(
    hunks.map(({ from_line, from_count, to_line, to_count }) => [from_line, from_count, to_line, to_count]),
    [
      [3, 7, 3, 6],
      [28, 7, 27, 7],
    ],
  );
  assert.deepEqual([added, removed], [1, 2]);
});

test('an empty text, and a last line without a line feed, are compared like any other', () => {
  assert.deepEqual(diffTexts('', ''), { added: 0, removed: 0, coarse: false, truncated: false, hunks: [] });
  const [first] = diffTexts('', 'a').hunks;
  assert.deepEqual([first?.from_line, first?.from_count, first?.to_line, first?.to_count], [0, 0, 1, 1]);
  assert.deepEqual([diffTexts('a', 'a\n').added, diffTexts('a', 'a\n').removed], [1, 1]);
});

test('a rewritten page is compared completely, whatever its size', () => {
  const diff = diffTexts(
    lines(40_000, (i) => `old line number ${i}`),
    lines(40_000, (i) => `new line number ${i}`),
  );
  assert.deepEqual([diff.added, diff.removed, diff.coarse, diff.truncated], [40_000, 40_000, false, true]);
  assert.equal(
    diff.hunks.reduce((n, hunk) => n + hunk.lines.length, 0),
    10_000,
  );
});

test('texts that take too long to compare give a result marked as coarse', () => {
  const shuffled = lines(20_000, (i) => String((i * 7_919) % 20_000));
  const diff = diffTexts(`same\n${lines(20_000, String)}\nend`, `same\n${shuffled}\nend`);
  assert.equal(diff.coarse, true);
  assert.equal(diff.hunks[0]?.lines[0]?.kind, 'context', 'what both begin with is not part of the change');
});
