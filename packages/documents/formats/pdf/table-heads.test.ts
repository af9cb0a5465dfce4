import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PdfLine, pdfOf } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

const markdownOf = async (...pages: PdfLine[][]) => (await readPdf(pdfOf(pages))).markdown;

/** Rows of a name and numbers; numbers of equal length also end at the same place. */
const rowsFrom = (top: number, rows: readonly (readonly string[])[], places = [50, 200, 300, 400]): PdfLine[] =>
  rows.flatMap((row, i) =>
    row.flatMap((text, k): PdfLine[] => (text === '' ? [] : [[text, places[k] ?? 0, top - 20 * i]])),
  );

const NUMBERS = [
  ['North', '11.5', '120', '7.1'],
  ['South', '22.5', '340', '8.2'],
  ['West', '33.5', '560', '9.3'],
  ['East', '44.5', '780', '6.4'],
];
const BODY = NUMBERS.map((row) => `| ${row.join(' | ')} |\n`).join('');

const TEXT: PdfLine[] = [
  ['A sentence that stands above the table, and fills its line with words up to the margin', 50, 780],
  ['of the page.', 50, 767],
];
const ABOVE = `${TEXT.map(([words]) => words).join(' ')}\n\n`;

test('multi-line head cells of different heights form one row above the numbers', async () => {
  const markdown = await markdownOf([
    ...TEXT,
    ['Volume', 300, 733],
    ['Annual', 200, 727],
    ['Share', 400, 727],
    ['Region', 50, 721],
    ['sold', 300, 721],
    ['growth', 200, 715],
    ['in percent', 400, 715],
    ['(tonnes)', 300, 709],
    ...rowsFrom(690, NUMBERS),
  ]);
  assert.equal(
    markdown,
    `${ABOVE}| Region | Annual growth | Volume sold (tonnes) | Share in percent |\n| - | - | - | - |\n${BODY}`,
  );
});

test('a head over several columns is in the first of them, and a head over one column shares its row', async () => {
  const markdown = await markdownOf([
    ...TEXT,
    ['First half', 239, 740],
    ['Kept', 400, 740],
    ['Region', 50, 733],
    ['Growth', 200, 727],
    ['Sold', 300, 727],
    ...rowsFrom(700, NUMBERS),
  ]);
  assert.equal(markdown, `${ABOVE}| Region | First half | | Kept |\n| - | - | - | - |\n| | Growth | Sold | |\n${BODY}`);
});

test('a row group title below the head belongs to the table, and a text above the table does not', async () => {
  const group: PdfLine = ['Regions of the coast:', 50, 710];
  assert.equal(
    await markdownOf([
      ...TEXT,
      ...rowsFrom(730, [['Region', 'Growth', 'Sold', 'Share']]),
      group,
      ...rowsFrom(690, NUMBERS),
    ]),
    `${ABOVE}| Region | Growth | Sold | Share |\n| - | - | - | - |\n| Regions of the coast: | | | |\n${BODY}`,
  );
  assert.equal(
    await markdownOf([...TEXT, group, ...rowsFrom(690, NUMBERS)]),
    `${ABOVE}Regions of the coast:\n\n${BODY.replace('\n', '\n| - | - | - | - |\n')}`,
  );
});

test('the last line of a paragraph is not a head, even if its words are above columns', async () => {
  const markdown = await markdownOf([
    ['A sentence that stands above the table, and fills its line with words up to the margin, and', 50, 723],
    ['goes on below it with few.', 50, 710],
    ...rowsFrom(690, NUMBERS),
  ]);
  assert.match(markdown, /and goes on below it with few\.\n\n\| North \| 11\.5 /);
});

test('left-aligned words above right-aligned numbers are their heads', async () => {
  const markdown = await markdownOf([
    ...TEXT,
    ...rowsFrom(730, [['Region', 'Growth', 'Sold', 'Share']], [50, 150, 250, 350]),
    ['Regions of the coast:', 50, 710],
    ...rowsFrom(690, NUMBERS),
  ]);
  assert.equal(
    markdown,
    `${ABOVE}| Region | Growth | Sold | Share |\n| - | - | - | - |\n| Regions of the coast: | | | |\n${BODY}`,
  );
});

test('a head of two rows that repeats on the next page appears once', async () => {
  const head = (y: number): PdfLine[] => [
    ['First half', 239, y],
    ['Kept', 400, y],
    ['Growth', 200, y - 13],
    ['Sold', 300, y - 13],
  ];
  const rest = NUMBERS.map(([name, ...numbers]) => [`${name} again`, ...numbers]);
  const markdown = await markdownOf([...head(740), ...rowsFrom(700, NUMBERS)], [...head(740), ...rowsFrom(700, rest)]);
  const more = rest.map((row) => `| ${row.join(' | ')} |\n`).join('');
  assert.equal(markdown, `| | First half | | Kept |\n| - | - | - | - |\n| | Growth | Sold | |\n${BODY}${more}`);
});

test('head rows as close as lines are separated by the order of their cells, and each head is above its columns', async () => {
  // A name across both rows, a head over two columns and a head over one, then the heads of right-aligned columns.
  const head: PdfLine[] = [
    ['Region', 50, 714],
    ['Sold abroad', 250, 720],
    ['Kept', 400, 720],
    ['Growth', 200, 708],
    ['Volume', 300, 708],
    ['Share', 400, 708],
  ];
  const below = `| | Growth | Volume | Share |\n${BODY}`;
  assert.equal(
    await markdownOf([...TEXT, ...head, ...rowsFrom(690, NUMBERS, [50, 215, 320, 405])]),
    `${ABOVE}| Region | Sold abroad | | Kept |\n| - | - | - | - |\n${below}`,
  );
  // Written from top to bottom, the same words are the lines of one row.
  const inLines = [...head].sort((a, b) => b[2] - a[2]);
  assert.match(
    await markdownOf([...TEXT, ...inLines, ...rowsFrom(690, NUMBERS, [50, 215, 320, 405])]),
    /\| Region \| (?:Sold abroad )?Growth \|/,
  );
});
