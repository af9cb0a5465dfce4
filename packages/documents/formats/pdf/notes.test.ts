import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PdfLine, pdfOf, pdfOfPages, pixelImage } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

/** A line at the left edge; digits after `^` are raised. */
function line(text: string, y: number, size = 10): string {
  const parts = text.split(/(\^\d+)/).map((part) => {
    const isRaised = part.startsWith('^');
    return isRaised
      ? `${0.4 * size} Ts /F1 ${0.6 * size} Tf (${part.slice(1)}) Tj 0 Ts`
      : `/F1 ${size} Tf (${part}) Tj`;
  });
  return `BT 50 ${y} Td ${parts.join(' ')} ET`;
}

test('a note mark links to the note on its page and back, exponents stay unlinked, and every number is kept', async () => {
  const first = [
    line('The text of the first paragraph says much about the sea,^1 and ten', 700),
    line('square kilometres of it are 3 km^2 of water, as an old book^2 says.', 688),
    line('^1 The sea is a large body of water.', 100, 8),
    line('^2 A book of the year 1950, p. 12, which has many words in a long line', 90, 8),
    line('and a second line.', 80, 8),
  ];
  const second = [
    line('The next page has a note with the same number^1 and another one.*', 700),
    line('^1 Of the second page.', 100, 8),
    line('* With a symbol.', 90, 8),
  ];
  const third = [
    line('No note belongs to this^3, and of two^4 that are the same none.', 700),
    line('^4 One of them.', 100, 8),
    line('^4 The other.', 90, 8),
  ];
  const { markdown } = await readPdf(pdfOfPages([first.join('\n'), second.join('\n'), third.join('\n')]));
  assert.deepEqual(markdown.split(/\n+/), [
    '<a id="place-1"></a>The text of the first paragraph says much about the sea,[¹](#place-0) and ten square kilometres of it are 3 km² of water, as an old book[²](#place-2) says.',
    '<a id="place-0"></a>[¹](#place-1) The sea is a large body of water.',
    '<a id="place-2"></a>[²](#place-1) A book of the year 1950, p. 12, which has many words in a long line and a second line.',
    '<a id="place-5"></a>The next page has a note with the same number[¹](#place-4) and another one.[\\*](#place-6)',
    '<a id="place-4"></a>[¹](#place-5) Of the second page.',
    '<a id="place-6"></a>[\\*](#place-5) With a symbol.',
    'No note belongs to this³, and of two⁴ that are the same none.',
    '⁴ One of them.',
    '⁴ The other.',
    '',
  ]);
});

test('a picture and its caption share a paragraph in their original order, and no other text joins it', async () => {
  const image = pixelImage(120, 90, (x, y) => [x, y, 90]);
  const text = (y: number): PdfLine => ['A paragraph of the text that goes on for a while and then ends here.', 50, y];
  const pdf = pdfOf(
    [
      [text(780), ['Figure 1: Two plans.', 50, 640], text(600), ['Fig. 2. A garden', 50, 560], text(400)],
      [text(780), text(600)],
    ],
    [
      [
        ['A', 50, 660, 100, 100],
        ['B', 188, 660, 100, 100],
        ['C', 50, 440, 100, 100],
      ],
      [['D', 50, 660, 100, 100]],
    ],
    {
      A: image,
      B: pixelImage(120, 90, (x) => [x, 9, 9]),
      C: pixelImage(120, 90, (x) => [9, x, 9]),
      D: pixelImage(120, 90, (x) => [9, 9, x]),
    },
  );
  const { markdown, block_pages } = (await (await readPdf(pdf)).readMore?.()) ?? {};
  const shown = markdown?.replace(/attachment:\S+?\)/g, 'picture)').split('\n\n');
  const words = text(0)[0];
  assert.deepEqual(shown, [
    words,
    '![](picture)\\\n![](picture)\\\nFigure 1: Two plans.',
    words,
    'Fig. 2. A garden\\\n![](picture)',
    words,
    words,
    '![](picture)',
    `${words}\n`,
  ]);
  assert.deepEqual(block_pages?.[1]?.boxes?.[0]?.length, 15, 'the caption and both pictures are its places');
});
