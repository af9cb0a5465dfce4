import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfOfContents } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

/**
 * Widths of the Helvetica letters used here, in thousandths of the font size; other characters are as wide as a digit.
 */
const WIDTHS: Readonly<Record<string, number>> = {
  ...{ '.': 278, '%': 889, i: 222, j: 222, l: 222, t: 278, r: 333, c: 500, k: 500, v: 500, y: 500, m: 833, w: 722 },
  ...{ I: 278, A: 667, S: 667, V: 667, C: 722, D: 722, N: 722, R: 722, O: 778, M: 833 },
};

const widthOf = (text: string) => [...text].reduce((sum, letter) => sum + (WIDTHS[letter] ?? 556), 0) / 100;

/** A text written in one operation. */
const whole = (text: string, x: number, y: number) => `BT /F1 10 Tf ${x.toFixed(2)} ${y} Td (${text}) Tj ET`;

/** A text with each letter placed separately. */
const byLetters = (text: string, x: number, y: number) => {
  const steps = [...text].map((letter, i) => {
    const step = i === 0 ? `${x.toFixed(2)} ${y}` : `${widthOf(text[i - 1] ?? '').toFixed(2)} 0`;
    return `${step} Td (${letter}) Tj`;
  });
  return `BT /F1 10 Tf ${steps.join(' ')} ET`;
};

const ROWS = [
  ['Country', 'Area', 'Capital'],
  ['Norway', '38520', 'Oslo'],
  ['Denmark', '42943', 'Copenhagen'],
  ['Sweden', '45029', 'Stockholm'],
  ['Iceland', '10300', 'Reykjavik'],
  ['Malta', '316', 'Valletta'],
];

/** A table with right-aligned numbers followed closely by words. `gap` in points; `right`: where the numbers end. */
function table(show: typeof whole, gap: number, right = 140): string {
  return ROWS.map(([country = '', area = '', capital = ''], i) => {
    const y = 700 - 14 * i;
    return [show(country, 50, y), show(area, right - widthOf(area), y), show(capital, right + gap, y)].join('\n');
  }).join('\n');
}

const READ = `${ROWS.map((row) => `| ${row.join(' | ')} |`)
  .toSpliced(1, 0, '| - | - | - |')
  .join('\n')}\n`;

const markdownOf = async (content: string) => (await readPdf(pdfOfContents([Buffer.from(content)]))).markdown;

test('words after numbers are a separate column, even if both are as close as words', async () => {
  assert.equal(await markdownOf(table(whole, 4)), READ);
});

test('right-aligned numbers are a column, even if other numbers are as close as words', async () => {
  const rows = [
    ['Country', 'Area', 'Share'],
    ['Denmark', '42943', '62.4%'],
    ['Iceland', '103000', '10.3%'],
  ];
  const content = rows.flatMap(([country = '', area = '', share = ''], i) => [
    whole(country, 50, 700 - 14 * i),
    whole(area, 140 - widthOf(area), 700 - 14 * i),
    whole(share, 144.5 + widthOf('62.4%') - widthOf(share), 700 - 14 * i),
  ]);
  const read = rows.map((row) => `| ${row.join(' | ')} |`).toSpliced(1, 0, '| - | - | - |');
  assert.equal(await markdownOf(content.join('\n')), `${read.join('\n')}\n`);
});

test('columns are found if a program places each letter separately', async () => {
  assert.equal(await markdownOf(table(byLetters, 4)), READ);
});

test('a number that touches the longest word before it is a separate cell', async () => {
  const right = 50 + widthOf('Denmark') + 1 + widthOf('42943');
  assert.equal(await markdownOf(table(whole, 30, right)), READ);
});

test('numbers in lines of prose are not a column', async () => {
  const lines = [
    'In 1950 there were 1200 people in the town, and 300 of them',
    'had come from 12 other places; by 1960 they were 1530, and in',
    'the year 1970 there were 2210, of whom 480 worked in the 25',
    'mills on the river. In 1980 only 9 of these mills were left.',
  ];
  const markdown = await markdownOf(lines.map((text, i) => whole(text, 50, 700 - 12 * i)).join('\n'));
  assert.equal(markdown, `${lines.join(' ')}\n`);
});
