import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PdfLine, pdfOf } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

const markdownOf = async (...pages: PdfLine[][]) => (await readPdf(pdfOf(pages))).markdown;

const PLACES = [50, 160, 250, 330];

/** Rows as programs write them: all lines of a cell, then those of the next one; shorter cells are in the middle of their row. */
function rowsFrom(top: number, rows: readonly (readonly (readonly string[])[])[], leading = 12): PdfLine[] {
  let y = top;
  return rows.flatMap((cells) => {
    const high = Math.max(...cells.map((lines) => lines.length));
    const written = cells.flatMap((lines, k) =>
      lines.map((text, i): PdfLine => [text, PLACES[k] ?? 0, y - leading * (i + (high - lines.length) / 2)]),
    );
    y -= leading * high;
    return written;
  });
}

test('rows as near to each other as lines are told by the order of their cells, which stand in the middle of them', async () => {
  const markdown = await markdownOf(
    rowsFrom(700, [
      [['Name'], ['Share'], ['Year'], ['Remark']],
      [['The first', 'of them'], ['12.5'], ['1999'], ['Read by', 'two people', 'in a week']],
      [['Second'], ['8.25'], ['2004'], ['Not read', 'at all']],
      [['Third', 'and last'], ['7.75'], ['2010'], ['Lost']],
    ]),
  );
  assert.equal(
    markdown,
    '| Name | Share | Year | Remark |\n| - | - | - | - |\n| The first of them | 12.5 | 1999 | Read by two people in a week |\n' +
      '| Second | 8.25 | 2004 | Not read at all |\n| Third and last | 7.75 | 2010 | Lost |\n',
  );
});

test('a row of numbers below a head is a table, and names above places are none', async () => {
  const rowOf = (words: readonly string[]) => words.map((word) => [word]);
  const head = rowOf(['Region', 'Sold', 'Kept', 'Share']);
  assert.equal(
    await markdownOf(rowsFrom(700, [head, rowOf(['North', '398', '86', '21.6'])], 18)),
    '| Region | Sold | Kept | Share |\n| - | - | - | - |\n| North | 398 | 86 | 21.6 |\n',
  );
  const names = [rowOf(['Ada', 'Grace', 'Alan']), rowOf(['London', 'New York', 'Wilmslow'])];
  assert.doesNotMatch(await markdownOf(rowsFrom(700, names, 18)), /\|/);
});
