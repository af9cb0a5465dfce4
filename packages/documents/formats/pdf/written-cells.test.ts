import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PdfLine, pdfOf } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

const markdownOf = async (...pages: PdfLine[][]) => (await readPdf(pdfOf(pages))).markdown;

const PLACES = [50, 160, 250, 330];

/**
 * Rows as programs write them: all lines of a cell, then all lines of the next cell; shorter cells are centered
 * vertically.
 */
function rowsFrom(
  top: number,
  rows: readonly (readonly (readonly string[])[])[],
  { leading = 12, places = PLACES, padding = 0 } = {},
): PdfLine[] {
  let y = top;
  return rows.flatMap((cells) => {
    const high = Math.max(...cells.map((lines) => lines.length));
    const written = cells.flatMap((lines, k) =>
      lines.map((text, i): PdfLine => [text, places[k] ?? 0, y - leading * (i + (high - lines.length) / 2)]),
    );
    y -= leading * high + padding;
    return written;
  });
}

test('rows as close as lines are separated by the order of their cells, which are centered vertically', async () => {
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

test('a row of numbers below a head is a table, and names above places are not', async () => {
  const rowOf = (words: readonly string[]) => words.map((word) => [word]);
  const head = rowOf(['Region', 'Sold', 'Kept', 'Share']);
  assert.equal(
    await markdownOf(rowsFrom(700, [head, rowOf(['North', '398', '86', '21.6'])], { leading: 18 })),
    '| Region | Sold | Kept | Share |\n| - | - | - | - |\n| North | 398 | 86 | 21.6 |\n',
  );
  const names = [rowOf(['Ada', 'Grace', 'Alan']), rowOf(['London', 'New York', 'Wilmslow'])];
  assert.doesNotMatch(await markdownOf(rowsFrom(700, names, { leading: 18 })), /\|/);
});

const WIDE = { places: [50, 300], padding: 6 };

test('a table of two columns keeps its rows, whatever the number of lines in cells, even if a cell is empty', async () => {
  const prose = 'The text above the table goes on for so long that it ends above its second column only.';
  const lines: PdfLine[] = [
    [prose, 50, 730],
    ['It has two lines.', 50, 718],
  ];
  const rows = rowsFrom(
    690,
    [
      [['What was asked'], ['Answers']],
      [
        ['How often the house is heated in', 'winter, and for how long at a time', 'when it is cold outside'],
        ['1,204'],
      ],
      [['Whether the windows are closed', 'while it is heated'], ['980']],
      [['What is done about the heat that', 'leaves by the roof and by the door', 'of the cellar'], []],
      [['Who pays for all of this, and how', 'much that is in a year'], ['1,117']],
    ],
    WIDE,
  );
  assert.equal(
    await markdownOf([...lines, ...rows]),
    `${prose} It has two lines.\n\n| What was asked | Answers |\n| - | - |\n` +
      '| How often the house is heated in winter, and for how long at a time when it is cold outside | 1,204 |\n' +
      '| Whether the windows are closed while it is heated | 980 |\n' +
      '| What is done about the heat that leaves by the roof and by the door of the cellar | |\n' +
      '| Who pays for all of this, and how much that is in a year | 1,117 |\n',
  );
});

test('adjacent multi-line text cells are not columns of prose', async () => {
  const cells = (row: number) =>
    [0, 1].map((column) => Array.from({ length: 4 }, (_, i) => `Line ${i} of the cell in row ${row}.${column}`));
  const markdown = await markdownOf(
    rowsFrom(700, [cells(1), cells(2), cells(3), cells(4)], { places: [50, 230], padding: 6 }),
  );
  assert.equal(markdown.split('\n').filter((line) => /^\| Line 0 .* \| Line 0 .* \|$/.test(line)).length, 4);
});

test('lines of a justified cell share a row, even if their words are as far apart as cells', async () => {
  const justified = (words: readonly string[], y: number) => words.map((word, i): PdfLine => [word, 200 + 33 * i, y]);
  const rowAt = (y: number, name: string, remark: readonly PdfLine[]): PdfLine[] => [
    [name, 50, y],
    [`1${y}`, 130, y],
    ...remark,
    ['Yes', 330, y],
  ];
  const markdown = await markdownOf([
    ...rowAt(700, 'Name', [['Remark', 200, 700]]),
    ...rowAt(684, 'first', [
      ...justified(['Whose', 'words', 'stand'], 684),
      ...justified(['Apart', 'from', 'each'], 672),
      ['Other', 200, 660],
    ]),
    ...rowAt(648, 'second', [
      ['Whose words do', 200, 648],
      ['Not do that', 200, 636],
    ]),
    ...rowAt(624, 'third', [['One line', 200, 624]]),
  ]);
  assert.equal(
    markdown,
    '| Name | 1700 | Remark | Yes |\n| - | - | - | - |\n| first | 1684 | Whose words stand Apart from each Other | Yes |\n' +
      '| second | 1648 | Whose words do Not do that | Yes |\n| third | 1624 | One line | Yes |\n',
  );
});

test('lines of a cell share a row if a program writes them after the other cells of the row', async () => {
  const rows = [
    ['Heated', '12', 'Houses of', 'Berlin'],
    ['Cold', '9', 'Flats of', 'Hamburg'],
    ['Empty', '31', 'Sheds of', 'Bremen'],
    ['New', '5', 'Barns of', 'Kiel'],
  ].flatMap(([name = '', count = '', ...lines], i): PdfLine[] => [
    [count, 200, 684 - 24 * i],
    [name, 260, 684 - 24 * i],
    ...lines.map((line, k): PdfLine => [line, 50, 684 - 24 * i - 12 * k]),
  ]);
  assert.equal(
    await markdownOf([['What it is', 50, 700], ['Count', 200, 700], ['Name', 260, 700], ...rows]),
    '| What it is | Count | Name |\n| - | - | - |\n| Houses of Berlin | 12 | Heated |\n| Flats of Hamburg | 9 | Cold |\n' +
      '| Sheds of Bremen | 31 | Empty |\n| Barns of Kiel | 5 | New |\n',
  );
});
