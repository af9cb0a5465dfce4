import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PdfLine, pdfOf } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

/** Rows of texts at given x coordinates. */
const rowsAt = (places: readonly number[], rows: readonly (readonly string[])[]): PdfLine[] =>
  rows.flatMap((row, i) =>
    row.flatMap((text, k): PdfLine[] => (text === '' ? [] : [[text, places[k] ?? 0, 740 - 16 * i]])),
  );

const markdownOf = async (lines: readonly PdfLine[]) => (await readPdf(pdfOf([lines]))).markdown;

test('cells as close as words are separate if they are aligned, and a text that joins two cells is split', async () => {
  const markdown = await markdownOf([
    ['Text above the table, which is a sentence of its own and no row of it.', 50, 770],
    ...rowsAt(
      [50, 133.4, 156],
      [
        ['Region', 'Sold', 'Kept'],
        ['North', '398', '86'],
        ['South', '71', '12'],
        ['West', '15', '37'],
        // The text ends where the numbers of the second column end.
        ['Second in autumn 493', '', '52'],
        ['East', '20', '9'],
      ],
    ),
  ]);
  assert.equal(
    markdown,
    'Text above the table, which is a sentence of its own and no row of it.\n\n| Region | Sold | Kept |\n| - | - | - |\n' +
      '| North | 398 | 86 |\n| South | 71 | 12 |\n| West | 15 | 37 |\n| Second in autumn | 493 | 52 |\n| East | 20 | 9 |\n',
  );
});

test('two numbers joined in all rows are two cells, but the thousands of one number are not split', async () => {
  const table = (pairs: readonly string[]) =>
    markdownOf(
      rowsAt(
        [50, 120, 210],
        pairs.map((pair, i) => [`Row ${i + 1}`, pair, `${i + 4}0`]),
      ),
    );
  assert.equal(
    await table(['81.8% 4,185', '7.8% 795', '9.2% 5,322']),
    '| Row 1 | 81.8% | 4,185 | 40 |\n| - | - | - | - |\n| Row 2 | 7.8% | 795 | 50 |\n| Row 3 | 9.2% | 5,322 | 60 |\n',
  );
  assert.equal(
    await table(['81 418', '7 795', '9 322']),
    '| Row 1 | 81 418 | 40 |\n| - | - | - |\n| Row 2 | 7 795 | 50 |\n| Row 3 | 9 322 | 60 |\n',
  );
});

test('prose words that happen to align are not cells', async () => {
  const lines = rowsAt(
    [50, 140],
    [
      ['It is possible to go', 'exclude something'],
      ['when turning it all', 'into markdown now'],
      ['element with some', 'that says it twice.'],
    ],
  );
  assert.equal(
    await markdownOf(lines),
    'It is possible to go exclude something when turning it all into markdown now element with some that says it twice.\n',
  );
});

test('a lowercase word below the first cell continues its text', async () => {
  const rows = [
    ['Revenue of', '34', '9,272'],
    ['both halves', '', ''],
    ['Cost', '60', '8,804'],
    ['Total', '94', '18,076'],
  ];
  assert.equal(
    await markdownOf(rowsAt([50, 150, 250], rows)),
    '| Revenue of both halves | 34 | 9,272 |\n| - | - | - |\n| Cost | 60 | 8,804 |\n| Total | 94 | 18,076 |\n',
  );
});
