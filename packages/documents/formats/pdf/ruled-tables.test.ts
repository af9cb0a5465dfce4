import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfOfContents, pdfOfPages } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

const show = (text: string, x: number, y: number) => `BT /F1 10 Tf ${x} ${y} Td (${text}) Tj ET`;
const line = (x: number, y: number, u: number, v: number) => `${x} ${y} m ${u} ${v} l S`;
/** A thin rectangle, as browsers draw lines. */
const thin = (x: number, y: number, width: number, height: number) => `${x} ${y} ${width} ${height} re f`;

/** A header over two columns, a cell of two lines, a cell over two rows, and numbers as close as words. */
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

test('a ruled table keeps its cells: close to each other, with several lines, over several columns and rows', async () => {
  assert.equal(await markdownOf(TABLE.join('\n')), READ);
});

test('a ruled table is found on a page that is rotated, moved and scaled', async () => {
  assert.equal(await markdownOf(['q 0 1 -1 0 800 20 cm', ...TABLE, 'Q'].join('\n')), READ);
  assert.equal(await markdownOf(['q 0.7 0 0 0.7 30 40 cm', ...TABLE, 'Q'].join('\n')), READ);
});

test('a table without lines at its left and right edges keeps its outer columns', async () => {
  const rows = [
    ['Name', 'Size', 'Meaning'],
    ['first', '315', 'A text of the first row'],
    ['second', '2408', 'Another text of this row'],
  ];
  const open = [
    ...[700, 680, 650, 620].map((y) => line(50, y, 400, y)),
    ...[120, 180].map((x) => line(x, 700, x, 620)),
    ...rows.flatMap((row, i) => row.map((text, k) => show(text, [54, 124, 184][k] ?? 0, i === 0 ? 686 : 698 - 30 * i))),
    show('of the table.', 184, 656),
    show('in two lines.', 184, 626),
  ];
  assert.equal(
    await markdownOf(open.join('\n')),
    '| Name | Size | Meaning |\n| - | - | - |\n| first | 315 | A text of the first row of the table. |\n' +
      '| second | 2408 | Another text of this row in two lines. |\n',
  );
});

test('two adjacent tables stay two tables, each with its rows', async () => {
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

test('a frame around text, lines below headings and a drawing do not become tables or change the text', async () => {
  const words = [0, 1, 2, 3].flatMap((row) => [show('Some', 60, 700 - 12 * row), show('words', 95, 700 - 12 * row)]);
  const plain = await markdownOf(words.join('\n'));
  const frame = ['50 650 200 70 re S', line(50, 640, 250, 640)];
  assert.equal(await markdownOf([...words, ...frame].join('\n')), plain);
  const drawing = Array.from({ length: 9_000 }, (_, i) => line(i % 500, 300, (i % 500) + 9, 300));
  assert.equal(await markdownOf([...words, ...drawing].join('\n')), plain);
});

test('rotated heads belong to the columns below them, with and without ruled lines', async () => {
  const turn = (text: string, x: number, y: number) => `BT /F1 10 Tf 0 1 -1 0 ${x} ${y} Tm (${text}) Tj ET`;
  const heads = ['January', 'February', 'last year'].map((head, k) => turn(head, 208 + 50 * k, 515));
  const cells = ['Pears', 'Apples', 'Plums'].flatMap((name, row) => [
    show(name, 60, 500 - 15 * row),
    ...[0, 1, 2].map((column) => show(String(10 * row + column), 200 + 50 * column, 500 - 15 * row)),
  ]);
  const rules = [
    ...[575, 512, 497, 482, 467].map((y) => line(50, y, 350, y)),
    ...[50, 190, 240, 290, 350].map((x) => line(x, 575, x, 467)),
  ];
  const around = [show('Sold:', 60, 700), show('in kilograms', 60, 400), turn('at the margin', 20, 400)];
  const rows = '| Pears | 0 | 1 | 2 |\n| Apples | 10 | 11 | 12 |\n| Plums | 20 | 21 | 22 |\n';
  const table = (corner: string) => `|${corner} | January | February | last year |\n| - | - | - | - |\n${rows}`;
  const text = (corner: string) => `Sold:\n\n${table(corner)}\nin kilograms\n\nat the margin\n`;
  assert.equal(await markdownOf([...around, ...heads, ...cells].join('\n')), text(''));
  assert.equal(await markdownOf([...around, show('Fruit', 60, 515), ...heads, ...cells].join('\n')), text(' Fruit'));
  assert.equal(await markdownOf([...around, ...heads, ...cells, ...rules].join('\n')), text(''));
});

test('a link in a cell keeps the spaces around it, with and without ruled lines', async () => {
  const cells = ['ash', 'ksh', 'zsh'].flatMap((name, row) => [
    show(name, 54, 700 - 20 * row),
    show('a clone of sh for it', 154, 700 - 20 * row),
  ]);
  const rules = [720, 695, 675, 655].map((y) => line(50, y, 300, y));
  rules.push(...[50, 150, 300].map((x) => line(x, 720, x, 655)));
  // The link covers "of sh" in the second row.
  const link = '/Annots[<</Type/Annot/Subtype/Link/Rect[191 676 216 692]/A<</S/URI/URI(https://sh.example/)>>>>]';
  const cell = 'a clone [of sh](https://sh.example/) for it';
  const expected = `| ash | a clone of sh for it |\n| - | - |\n| ksh | ${cell} |\n| zsh | a clone of sh for it |\n`;
  for (const content of [cells, [...cells, ...rules]]) {
    const read = await readPdf(pdfOfPages([content.join('\n')], '', [link]));
    assert.equal(((await read.readMore?.()) ?? read).markdown, expected);
  }
});

test('aligned cells form a table without lines, even if some are empty or have several lines', async () => {
  const rows = (lines: readonly (readonly [y: number, ...cells: string[]])[]) =>
    lines.flatMap(([y, ...cells]) =>
      cells.flatMap((text, k) => (text === '' ? [] : [show(text, [50, 200, 320][k] ?? 0, y)])),
    );
  // Cells are centered in their row, so a taller cell has lines above and below the others.
  const table = rows([
    [700, 'Name', 'Size', 'Meaning'],
    [680, 'first', '315', ''],
    [660, 'second', '', 'Nothing'],
    [640, '', '', 'A text of the third'],
    [634, 'third', '2408', ''],
    [628, '', '', 'row in two lines'],
    [608, 'fourth', '17', 'The last'],
  ]);
  const around = [show('A sentence above the table, which is longer than its cells are.', 50, 730)];
  assert.equal(
    await markdownOf([...around, ...table].join('\n')),
    'A sentence above the table, which is longer than its cells are.\n\n| Name | Size | Meaning |\n| - | - | - |\n' +
      '| first | 315 | |\n| second | | Nothing |\n| third | 2408 | A text of the third row in two lines |\n' +
      '| fourth | 17 | The last |\n',
  );
  // Without extra space between rows, a row begins with its first cell.
  const dense = rows([
    [700, 'Name', 'Size', 'Meaning'],
    [688, 'first', '315', 'A text that has'],
    [676, '', '', 'another line'],
    [664, 'second', '2408', 'Nothing'],
    [652, 'third', '17', 'The last'],
  ]);
  assert.equal(
    await markdownOf(dense.join('\n')),
    '| Name | Size | Meaning |\n| - | - | - |\n| first | 315 | A text that has another line |\n' +
      '| second | 2408 | Nothing |\n| third | 17 | The last |\n',
  );
});

test('rows of numbers in groups stay rows, and entries with marks do not form a table', async () => {
  const rows = Array.from({ length: 9 }, (_, i) => [`method ${i}`, `${i}1,457`, `0.${i}`]);
  const y = (i: number) => 700 - 12 * i - 10 * Math.floor(i / 3);
  const shown = rows.flatMap((row, i) => row.map((text, k) => show(text, 50 + 120 * k, y(i))));
  const [head = '', ...others] = rows.map((row) => `| ${row.join(' | ')} |`);
  assert.equal(await markdownOf(shown.join('\n')), `${[head, '| - | - | - |', ...others].join('\n')}\n`);
  // Only the first row of a group has a first cell.
  const groups = Array.from({ length: 6 }, (_, i) => [i % 2 === 0 ? `group ${i}` : '', `kind ${i}`, `${i}00`]);
  const inGroups = groups.flatMap((row, i) =>
    row.flatMap((text, k) => (text === '' ? [] : [show(text, 50 + 120 * k, 700 - 12 * i - 8 * Math.floor(i / 2))])),
  );
  assert.match(await markdownOf(inGroups.join('\n')), /\| group 2 \| kind 2 \| 200 \|\n\| \| kind 3 \| 300 \|/);
  const entries = Array.from({ length: 4 }, (_, i) => [
    show(`[${i + 1}]`, 50, 700 - 30 * i),
    show(`An author of work ${i + 1}`, 90, 700 - 30 * i),
    show('and its title.', 90, 688 - 30 * i),
  ]).flat();
  assert.doesNotMatch(await markdownOf(entries.join('\n')), /\|/);
});

test('the time for thousands of dense rows on a page is linear in their number', async () => {
  const page = (rows: number) =>
    Array.from({ length: rows }, (_, i) => `BT /F1 0.2 Tf ${50 + (i % 5)} ${830 - 0.13 * i} Td (word ${i}) Tj ET`).join(
      '\n',
    );
  const timeOf = async (rows: number) => {
    const begin = process.cpuUsage();
    await markdownOf(page(rows));
    return process.cpuUsage(begin).user;
  };
  await timeOf(500);
  const [few, many] = [await timeOf(1_000), await timeOf(4_000)];
  assert.ok(many < 10 * few, `${few} and ${many} µs`);
});

test('ruled lines assign a cell next to several rows, and lines with little text between them are a drawing', async () => {
  const cells = [
    show('Group', 54, 745),
    show('Task', 154, 745),
    show('Those', 54, 690),
    show('The first of two tasks, of', 154, 725),
    show('which there is more', 154, 713),
    show('to say.', 154, 701),
    show('The second one', 154, 679),
    show('Others', 54, 657),
    show('To read', 154, 657),
  ];
  const lines = [760, 738, 672, 650].map((y) => line(50, y, 320, y));
  lines.push(line(150, 694, 320, 694), ...[50, 150, 320].map((x) => line(x, 650, x, 760)));
  assert.equal(
    await markdownOf([...cells, ...lines].join('\n')),
    '| Group | Task |\n| - | - |\n| Those | The first of two tasks, of which there is more to say. |\n| | The second one |\n| Others | To read |\n',
  );
  const axes = Array.from({ length: 12 }, (_, i) => `${line(340 + 18 * i, 650, 340 + 18 * i, 760)}`);
  const wide = [760, 738, 672, 650].map((y) => line(320, y, 560, y));
  const drawing = await markdownOf([...cells, ...lines, ...axes, ...wide].join('\n'));
  assert.doesNotMatch(drawing, /\| Those \|/);
});

/** Rules after every third row only, and none between the two numbers of a year. */
const GROUPED = [
  ...[716, 700, 655, 610].map((y) => line(50, y, 290, y)),
  ...[50, 130, 210, 290].map((x) => line(x, 716, x, 610)),
  show('Country', 54, 704),
  show('Men', 134, 704),
  show('Women', 214, 704),
];
const COUNTRIES = ['Austria', 'Belgium', 'Cyprus', 'Denmark', 'Estonia', 'Finland'];

test('rows and columns are found where ruled lines do not separate them', async () => {
  const rows = COUNTRIES.map((name, i) => [name, `1,${200 + i}`, `${30 + i}.5`]);
  const texts = rows.flatMap(([name = '', men = '', women = ''], i) => [
    show(name, 54, 688 - 15 * i),
    show(men, 150, 688 - 15 * i),
    show(women, 240, 688 - 15 * i),
  ]);
  const expected = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  assert.equal(
    await markdownOf([...GROUPED, ...texts].join('\n')),
    `| Country | Men | Women |\n| - | - | - |\n${expected}\n`,
  );
  const pairs = rows.map(([name, men, women], i) => [name, men, `${90 + i}`, women, `${10 + i}`]);
  const four = pairs.flatMap((row, i) =>
    row.map((text = '', k) => show(text, [54, 134, 180, 214, 260][k] ?? 0, 688 - 15 * i)),
  );
  const markdown = await markdownOf([...GROUPED, ...four].join('\n'));
  for (const row of pairs) assert.ok(markdown.includes(`| ${row.join(' | ')} |`), markdown);
});

test('stacked numbers in one ruled row become several rows in a table of single numbers', async () => {
  const cells = [
    ['North', '11', '12', 690],
    ['South', '21', '22', 675],
    ['West', '31', '32', 660],
    ['Men', '14', '15', 645],
    ['Women', '16', '17', 633],
  ] as const;
  const table = [
    ...[704, 687, 672, 657, 628].map((y) => line(50, y, 290, y)),
    ...[50, 130, 210, 290].map((x) => line(x, 704, x, 628)),
    ...cells.flatMap(([name, one, other, y]) => [show(name, 54, y), show(one, 134, y), show(other, 214, y)]),
  ];
  const markdown = await markdownOf(table.join('\n'));
  assert.match(markdown, /\| Men \| 14 \| 15 \|\n\| Women \| 16 \| 17 \|/);
});

test('a multi-line text next to a number stays in its ruled row', async () => {
  const table = [
    ...[704, 674, 644, 614].map((y) => line(50, y, 290, y)),
    ...[50, 210, 290].map((x) => line(x, 704, x, 614)),
    ...[0, 1, 2].flatMap((i) => [
      show('A name that is long', 54, 693 - 30 * i),
      show('and goes on', 54, 681 - 30 * i),
      show(`${40 + i}`, 214, 693 - 30 * i),
    ]),
  ];
  const row = (i: number) => `| A name that is long and goes on | ${40 + i} |`;
  assert.equal(await markdownOf(table.join('\n')), `${row(0)}\n| - | - |\n${row(1)}\n${row(2)}\n`);
});
