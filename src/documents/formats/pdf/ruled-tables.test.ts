import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfOfContents } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

const show = (text: string, x: number, y: number) => `BT /F1 10 Tf ${x} ${y} Td (${text}) Tj ET`;
const line = (x: number, y: number, u: number, v: number) => `${x} ${y} m ${u} ${v} l S`;
/** A line as browsers draw it. */
const thin = (x: number, y: number, width: number, height: number) => `${x} ${y} ${width} ${height} re f`;

/** A header over two columns, a cell of two lines, one over two rows, and numbers that are as near as words. */
const TABLE = [
  show('What was measured in the year:', 50, 760),
  ...[750, 730, 710, 680, 660, 640].map((y) =>
    y === 660 || y === 640 || y === 750 ? line(50, y, 170, y) : line(y === 710 ? 50 : 110, y, 170, y),
  ),
  line(50, 680, 170, 680),
  line(50, 750, 50, 640),
  line(110, 750, 110, 640),
  thin(139.5, 640, 1, 90),
  line(170, 750, 170, 640),
  show('Year', 54, 725),
  show('Counted', 114, 735),
  show('North', 112, 715),
  show('South', 142, 715),
  show('A name that', 52, 698),
  show('goes on', 52, 686),
  show('1234', 114, 692),
  show('5678', 143, 692),
  show('Total', 54, 665),
  show('17', 114, 665),
  show('4', 143, 665),
  show('Parts', 54, 645),
  show('5', 114, 645),
  show('6', 143, 645),
  show('The numbers are right.', 50, 620),
];

const READ =
  'What was measured in the year:\n\n| Year | Counted | |\n| - | - | - |\n| | North | South |\n' +
  '| A name that goes on | 1234 | 5678 |\n| Total | 17 | 4 |\n| Parts | 5 | 6 |\n\nThe numbers are right.\n';

async function markdownOf(...contents: string[]): Promise<string> {
  const read = await readPdf(pdfOfContents(contents.map((content) => Buffer.from(content))));
  return ((await read.readMore?.()) ?? read).markdown;
}

test('a table with ruled lines has its cells: near each other, of several lines, over several columns and rows', async () => {
  assert.equal(await markdownOf(TABLE.join('\n')), READ);
});

test('a table stays one on a page that is turned, moved and scaled', async () => {
  assert.equal(await markdownOf(['q 0 1 -1 0 800 20 cm', ...TABLE, 'Q'].join('\n')), READ);
  assert.equal(await markdownOf(['q 0.7 0 0 0.7 30 40 cm', ...TABLE, 'Q'].join('\n')), READ);
});

test('two tables side by side are two, each with its rows', async () => {
  const grid = (x: number, from: number) => [
    ...[700, 680, 660, 640].map((y) => line(x, y, x + 80, y)),
    ...[0, 40, 80].map((step) => line(x + step, 700, x + step, 640)),
    ...[0, 1, 2].flatMap((row) => [
      show(String(from + row), x + 22, 686 - 20 * row),
      show(String(from + 10 + row), x + 46, 686 - 20 * row),
    ]),
  ];
  assert.equal(
    await markdownOf([...grid(50, 100), ...grid(250, 200)].join('\n')),
    '| 100 | 110 |\n| - | - |\n| 101 | 111 |\n| 102 | 112 |\n\n| 200 | 210 |\n| - | - |\n| 201 | 211 |\n| 202 | 212 |\n',
  );
});

test('a frame around a text, lines below headings and a drawing are no tables, and change no text', async () => {
  const words = [0, 1, 2, 3].flatMap((row) => [show('Some', 60, 700 - 12 * row), show('words', 95, 700 - 12 * row)]);
  const plain = await markdownOf(words.join('\n'));
  const frame = ['50 650 200 70 re S', line(50, 640, 250, 640)];
  assert.equal(await markdownOf([...words, ...frame].join('\n')), plain);
  const drawing = Array.from({ length: 9_000 }, (_, i) => line(i % 500, 300, (i % 500) + 9, 300));
  assert.equal(await markdownOf([...words, ...drawing].join('\n')), plain);
});
