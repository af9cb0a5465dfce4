import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfOf, pdfOfContents } from '../../../../../test/pdf.ts';
import { readPdf } from '../read-pdf.ts';
import { paintedPaths } from './painted-paths.ts';
import { smallShapes } from './small-shapes.ts';

const show = (text: string, x: number, y: number) => `BT /F1 10 Tf ${x} ${y} Td (${text}) Tj ET`;

/** A circle around a point, made of four curves; `paint` fills or strokes it. */
function circle(x: number, y: number, radius: number, paint: string): string {
  const [r, k] = [radius, 0.55 * radius];
  return (
    `${x + r} ${y} m ${x + r} ${y + k} ${x + k} ${y + r} ${x} ${y + r} c ${x - k} ${y + r} ${x - r} ${y + k} ${x - r} ${y} c ` +
    `${x - r} ${y - k} ${x - k} ${y - r} ${x} ${y - r} c ${x + k} ${y - r} ${x + r} ${y - k} ${x + r} ${y} c h ${paint}`
  );
}

/** Wraps a drawing in browser units, which count from the top, and in a saved state. */
const inPixels = (drawing: string) => `q .75 0 0 -.75 0 842 cm ${drawing} Q`;
const pixels = (x: number, y: number) => [x / 0.75, (842 - y) / 0.75] as const;

const markdownOf = async (...content: string[]) =>
  (await readPdf(pdfOfContents([Buffer.from(content.join('\n'))]))).markdown;

test('discs, circles and squares drawn in front of lines are list marks, nested by position', async () => {
  const markdown = await markdownOf(
    '0.5 0.5 0.5 rg 40 600 500 200 re f 0 0 0 rg',
    show('What is needed (q Q cm) for it:', 50, 760),
    show('The first item, of a line that goes on below its', 80, 740),
    show('beginning.', 80, 728),
    show('One below it', 110, 712),
    show('And another', 110, 696),
    show('The last item', 80, 680),
    inPixels(circle(...pixels(72, 743), 2.5, 'f')),
    inPixels(circle(...pixels(102, 715), 2.5, 'S')),
    inPixels(circle(...pixels(102, 699), 2.5, 'S')),
    'q 1 0 0 1 70 681 cm 0 0 4 4 re f* Q',
    show('Text behind it.', 50, 650),
  );
  assert.equal(
    markdown,
    'What is needed (q Q cm) for it:\n\n- The first item, of a line that goes on below its beginning.\n' +
      '  - One below it\n  - And another\n- The last item\n\nText behind it.\n',
  );
});

test('a shape that is alone, large, distant, after words or among very many others is not a mark', async () => {
  const lines = ['One of', 'two of', 'three of them'].map((text, i) => show(text, 80, 740 - 14 * i));
  const without = await markdownOf(...lines);
  assert.equal(without, 'One of two of three of them\n');
  const alone = circle(72, 743, 2, 'f');
  assert.equal(await markdownOf(...lines, alone), without);
  const drawn = (x: number, side: number) =>
    [0, 1, 2].map((i) => `${x} ${741 - 14 * i} ${side} ${side} re f`).join(' ');
  for (const shapes of [
    drawn(65, 13),
    drawn(20, 4),
    drawn(90, 4),
    `${drawn(70, 4)} ${'500 500 2 2 re f '.repeat(1_100)}`,
  ])
    assert.equal(await markdownOf(...lines, shapes), without, shapes.slice(0, 20));
  const words = [0, 1, 2].map((i) => show('Colour', 38, 740 - 14 * i));
  assert.doesNotMatch(await markdownOf(...lines, ...words, drawn(72, 4)), /^- /m);
  assert.equal(await markdownOf(...lines, drawn(70, 4)), '- One of\n- two of\n- three of them\n');
});

test('marks as far from their texts as cells form a list, not a table column', async () => {
  const { markdown } = await readPdf(
    pdfOf([
      [
        ['The list:', 50, 760],
        ...['north', 'south', 'west'].flatMap((text, i) => [
          ['-', 50, 740 - 14 * i] as const,
          [text, 75, 740 - 14 * i] as const,
        ]),
        ['And a second one:', 50, 680],
        ...['north', 'south', 'west'].flatMap((text, i) => [
          [`${i + 1}.`, 50, 660 - 14 * i] as const,
          [text, 78, 660 - 14 * i] as const,
        ]),
      ],
    ]),
  );
  assert.equal(markdown, 'The list:\n\n- north\n- south\n- west\n\nAnd a second one:\n\n1. north\n2. south\n3. west\n');
});

test('the content stream of a page is scanned once, whatever texts it contains', () => {
  for (const part of ['(', '(a', '(\\', '\\(', '()', '(()', ' q', ' 1 2 m', ' 1 2 3 4 re f', ' f']) {
    const start = process.cpuUsage();
    smallShapes(paintedPaths(part.repeat(2 ** 21 / part.length)));
    // Scanning again from each bracket would take minutes.
    assert.ok(process.cpuUsage(start).user < 5e6, part);
  }
  const square = ' 10 10 4 4 re f ';
  assert.equal(smallShapes(paintedPaths(`(\\) (${square}) \\( ) Tj${square}`)).length, 1);
});
