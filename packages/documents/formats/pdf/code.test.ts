import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfOfPages } from '../../../../test/pdf.ts';
import { readPdf } from './read-pdf.ts';

const FONTS = '/F2<</Type/Font/Subtype/Type1/BaseFont/Courier>>';

/** The width of a character in 10-point Courier. */
const PITCH = 6;

type Text = readonly [text: string, x: number, y: number, size?: number];

const show = (font: string, [text, x, y, size = 10]: Text) =>
  `BT /${font} ${size} Tf ${x} ${y} Td (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`;
const prose = (...texts: readonly Text[]) => texts.map((text) => show('F1', text)).join('\n');
const code = (...texts: readonly Text[]) => texts.map((text) => show('F2', text)).join('\n');

/** Shows lines of code downwards from `y`, shifted right by their indentation. */
const codeFrom = (y: number, lines: readonly string[], x = 80) =>
  code(
    ...lines.flatMap((line, i): Text[] =>
      line === '' ? [] : [[line.trimStart(), x + PITCH * (line.length - line.trimStart().length), y - 12 * i]],
    ),
  );

/** Paragraphs of three lines, so that most of the text is not code. */
const paragraphs = (y: number, count: number) =>
  prose(
    ...Array.from({ length: count }, (_, i): Text[] =>
      [0, 1, 2].map((line) => [
        `A line of ordinary words that fill paragraph ${i} of them.`,
        50,
        y - 60 * i - 13 * line,
      ]),
    ).flat(),
  );

async function read(...contents: string[]) {
  return (await readPdf(pdfOfPages(contents, FONTS))).markdown;
}

const FUNCTION = ['if (x > 1) {', '  print("i");', '', '    # *deeper*', '}'];

test('monospaced lines become a code block that keeps lines, indentation and empty lines', async () => {
  const markdown = await read(
    [prose(['See the loop:', 50, 790]), codeFrom(760, FUNCTION), paragraphs(660, 6)].join('\n'),
  );
  assert.match(
    markdown,
    /^See the loop:\n\n```\nif \(x > 1\) \{\n {2}print\("i"\);\n\n {4}# \*deeper\*\n\}\n```\n\nA line/,
  );
});

test('columns of monospaced words become code, not a table or headings', async () => {
  const rows = [
    'name        size  note',
    'first         12  small',
    'second       340  larger',
    'third          5  tiny',
  ];
  const cells = rows.flatMap((row, i) =>
    [...row.matchAll(/\S+/g)].map((word): Text => [word[0], 80 + PITCH * word.index, 760 - 12 * i]),
  );
  const markdown = await read([code(...cells), paragraphs(680, 6)].join('\n'));
  assert.ok(markdown.startsWith(`\`\`\`\n${rows.join('\n')}\n\`\`\`\n\n`), markdown.slice(0, 200));
});

test('code continues across pages, even with different margins or footnotes between', async () => {
  const half = ['while (true) {', '  first();', '  second();'];
  const rest = ['  third();', '}'];
  const note = prose(['1 A note at the foot of the page, in smaller type than the text is.', 50, 60, 7]);
  const first = [paragraphs(790, 6), codeFrom(400, half), note].join('\n');
  const aligned = await read(first, [codeFrom(790, rest), paragraphs(700, 6)].join('\n'));
  const text = [...half, ...rest].join('\n');
  assert.ok(aligned.includes(`\`\`\`\n${text}\n\`\`\``), aligned);
  const shifted = await read(first, [codeFrom(790, ['next();', '  end();'], 99), paragraphs(700, 6)].join('\n'));
  assert.ok(shifted.includes(`${half.join('\n')}\nnext();\n  end();\n\`\`\``), shifted);
});

test('line numbers stay in front of the code, which keeps its indentation', async () => {
  const numbers = FUNCTION.flatMap((line, i): Text[] =>
    line === '' ? [] : [[String(i + 8), i < 2 ? 64 : 60, 760 - 12 * i, 6]],
  );
  const lines = FUNCTION.flatMap((line, i) => (line === '' ? [] : [`${String(i + 8).padStart(2)} ${line}`]));
  const placed = numbers.map((number, i) => [prose(number), codeFrom(number[2], [FUNCTION.filter(Boolean)[i] ?? ''])]);
  const markdown = await read([...placed.flat(), paragraphs(660, 6)].join('\n'));
  assert.equal(/```\n(.*)\n```/s.exec(markdown)?.[1]?.replace('\n\n', '\n'), lines.join('\n'));
});

test('monospaced words within a sentence stay in it, and so does a term above its definition', async () => {
  const markdown = await read(
    [
      paragraphs(790, 5),
      prose(['The command that is meant by these words, and that is used most, is', 50, 400]),
      code(['install --all --with', 50, 387]),
      prose(['and no other one.', 180, 387], ['It ends here.', 50, 374]),
      code(['--force', 50, 340]),
      prose(['writes over what is there.', 70, 327]),
      codeFrom(290, ['make it --all', 'make this']),
    ].join('\n'),
  );
  assert.match(markdown, /used most, is install --all --with and no other one\./);
  assert.doesNotMatch(markdown, /```\n--force/);
  assert.match(markdown, /```\nmake it --all\nmake this\n```/);
});

test('a fully monospaced document is read as prose, and a font used only for digits is not code', async () => {
  const lines = ['A line of a letter that a typewriter wrote, which', 'goes on here, and ends with this.'];
  assert.equal(await read(codeFrom(760, lines)), `${lines.join(' ')}\n`);
  const digits = codeFrom(760, ['1 2 3', '4 5 6']);
  assert.doesNotMatch(await read([digits, paragraphs(700, 6)].join('\n')), /```/);
});
