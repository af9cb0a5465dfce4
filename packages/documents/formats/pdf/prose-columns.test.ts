import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PdfLine, pdfOf } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

const WORDS = 'quiet rivers carry small boats past green hills where people wait for warm bread under old trees'.split(
  ' ',
);

/** Lines of distinct sentences, each seven lines long. */
function column(name: string, count: number, shift: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const words = [0, 1, 2].map((k) => WORDS[(shift + 3 * i + k) % WORDS.length]).join(' ');
    const place = (i + shift) % 7;
    const text = place === 0 || i === 0 ? `${words[0]?.toUpperCase()}${words.slice(1)}` : words;
    return `${text} ${name}${i}${place === 6 || i === count - 1 ? '.' : ''}`;
  });
}

const COLUMNS = [column('a', 24, 0), column('b', 26, 2), column('c', 24, 5)];
const linesOf = (texts: readonly string[], k: number): PdfLine[] =>
  texts.map((text, i) => [text, 50 + 170 * k, 700 - 13 * i]);

async function markdownOf(lines: readonly PdfLine[]): Promise<string> {
  const read = await readPdf(pdfOf([lines]));
  return ((await read.readMore?.()) ?? read).markdown;
}

test('columns of prose on the same baselines are read one after the other', async () => {
  const written = COLUMNS.map(linesOf);
  const across = written.flat().sort((one, other) => other[2] - one[2] || one[1] - other[1]);
  for (const lines of [written.flat(), written.slice(0, 2).flat(), across]) {
    const markdown = await markdownOf(lines);
    assert.doesNotMatch(markdown, /\|/);
    const names = [...markdown.matchAll(/\b[abc]\d+\b/g)].map(([name]) => name);
    const expected = COLUMNS.flatMap((texts, k) => texts.map((_, i) => `${'abc'[k]}${i}`));
    assert.deepEqual(names, expected.slice(0, names.length));
    assert.equal(names.length, lines.length);
  }
});

test('a title and a text across all columns are read before the columns', async () => {
  const markdown = await markdownOf([['A report', 50, 750, 16], ...COLUMNS.flatMap(linesOf)]);
  assert.match(markdown, /^# A report\n\n/);
  assert.doesNotMatch(markdown, /\|/);
});

test('cells of several lines stay cells of a table', async () => {
  const rows = [
    ['Method', 'What it does', 'When to use it'],
    ['Filter of sand', 'the water runs through', 'for small towns with'],
    ['', 'a bed of sand that', 'enough room and'],
    ['', 'keeps what floats in it', 'slow rivers'],
    ['Filter of coal', 'the water loses its', 'where it tastes of'],
    ['', 'smell and its colour', 'what grows in the'],
    ['', 'in a bed of coal', 'warm summer months'],
    ['Rays of light', 'lamps shine on the water', 'behind all others'],
    ['', 'and what lives in it', 'and where nothing'],
    ['', 'can grow no more', 'else is at hand'],
    ['Heat', 'the water boils', 'at home when pipes'],
    ['', 'for ten minutes and', 'are broken and the'],
    ['', 'cools down again', 'city says so'],
  ];
  const y = (i: number) => 700 - 12 * i - 8 * Math.ceil(i / 3);
  const lines = rows.flatMap((row, i) =>
    row.flatMap((text, k): PdfLine[] => (text ? [[text, 50 + 160 * k, y(i)]] : [])),
  );
  const markdown = await markdownOf(lines);
  assert.match(markdown, /\| Filter of sand \| the water runs through a bed of sand that keeps what floats in it \|/);
  assert.match(markdown, /\| Heat \| the water boils for ten minutes and cools down again \|/);
});

test('justified lines with wide spaces below each other are a paragraph', async () => {
  const rows = [
    ['variables for which the', 'population is of interest to'],
    ['users of the data, and so', 'the deviation is often used'],
    ['as a measure of how far', 'observations of a population'],
    ['are from each other when', 'they are symmetric and few'],
  ];
  const widths: Record<string, number> = {
    i: 222,
    l: 222,
    j: 222,
    t: 278,
    f: 278,
    ' ': 278,
    ',': 278,
    r: 333,
    s: 500,
    c: 500,
    k: 500,
    v: 500,
    x: 500,
    y: 500,
    w: 722,
    m: 833,
  };
  const widthOf = (text: string) => [...text].reduce((sum, letter) => sum + (widths[letter] ?? 556) / 100, 0);
  const lines = rows.flatMap(([left = '', right = ''], i): PdfLine[] => [
    [left, 50, 700 - 12 * i],
    [right, 340 - widthOf(right), 700 - 12 * i],
  ]);
  assert.doesNotMatch(await markdownOf(lines), /\|/);
});
