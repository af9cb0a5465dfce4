import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PdfLine, pdfOf, pdfOfObjects, pdfOfPages, streamObject } from '../../../../test/pdf.ts';
import type { Loss } from '../losses.ts';
import { readPdf } from './read-pdf.ts';

async function read(pdf: Uint8Array) {
  const { markdown, losses = [], file_characters } = await readPdf(pdf);
  return { markdown, losses: losses.map(shortLoss), file_characters };
}

/** Formats a loss as `repeated_line 2-4 footer: 2`. */
function shortLoss({ kind, first_page, last_page, place, excerpt, count }: Loss): string {
  const pages = first_page === last_page ? `${first_page}` : `${first_page}-${last_page}`;
  return `${kind} ${pages}${place && ` ${place}`}: ${excerpt}${count === 1 ? '' : ` (${count})`}`;
}

const refuse = (pdf: Uint8Array, message: RegExp) => assert.rejects(readPdf(pdf), message);

function show(text: string, x: number, y: number, font = '/F1 12 Tf'): string {
  return `BT ${font} ${x} ${y} Td (${text}) Tj ET`;
}

const PROSE = Array.from(
  { length: 12 },
  (_, i): PdfLine => [`Some words ${'abcdefghijkl'[i]} that fill the page.`, 50, 700 - 14 * i],
);

test('a table cell is never taken for a page number, at any edge of any number of pages', async () => {
  // The rows extend from edge to edge, and the last column increases by one on each page.
  const cellsOf = (page: number) =>
    Array.from({ length: 60 }, (_, row) => [`Item ${page}-${row}`, String(1000 + row), String(page + row)]);
  const pages = Array.from({ length: 5 }, (_, page) =>
    cellsOf(page).flatMap((row, i) => row.map((cell, k): PdfLine => [cell, 50 + 180 * k, 825 - 13.5 * i])),
  );
  const { markdown, losses } = await read(pdfOf(pages));
  for (let page = 0; page < 5; page += 1) {
    for (const row of cellsOf(page)) assert.ok(markdown.includes(`| ${row.join(' | ')} |`), row.join(' '));
  }
  assert.deepEqual(losses, []);
});

test('a column of numbers and lines that differ only in digits are kept as text', async () => {
  const lists = Array.from({ length: 4 }, (_, page) =>
    Array.from({ length: 60 }, (_, i): PdfLine => [String(7 * (60 * page + i)), 50, 825 - 13.5 * i]),
  );
  const list = await read(pdfOf(lists));
  for (let i = 0; i < 240; i += 1) assert.match(list.markdown, new RegExp(`(?<!\\d)${7 * i}(?!\\d)`));
  const rows = Array.from({ length: 6 }, (_, page): PdfLine[] => [
    [`Gamma [${page * 3}.${page}] WhitePoint [0.9${page * 2} 1.0]`, 50, 800],
    ...PROSE,
    [`Total of ${page * page + 4} items`, 50, 40],
  ]);
  const { markdown, losses } = await read(pdfOf(rows));
  for (let page = 0; page < 6; page += 1) {
    assert.ok(markdown.includes(`Gamma \\[${page * 3}.${page}] WhitePoint \\[0.9${page * 2} 1.0]`));
    assert.ok(markdown.includes(`Total of ${page * page + 4} items`));
  }
  assert.deepEqual(losses, []);
});

test('page numbers and repeated lines are removed and listed as losses', async () => {
  const pages = Array.from({ length: 8 }, (_, page): PdfLine[] => [
    ['The Book of Examples', 50, 810],
    [`Chapter ${page < 4 ? 'one' : 'two'}`, 400, 810],
    [`Only page ${page + 1} says ${'abcdefgh'[page]}.`, 50, 750],
    ...PROSE,
    // The first page of a chapter has its number at another place.
    [page === 4 ? `- ${page + 11} -` : String(page + 11), page % 2 === 0 ? 50 : 500, page === 4 ? 80 : 30],
    [`Draft of May 2020, ${page + 1} of 8`, 200, 30],
  ]);
  const { markdown, losses } = await read(pdfOf(pages));
  assert.doesNotMatch(markdown, /Book|Chapter|Draft|1[1-8]\b/);
  for (const letter of 'abcdefgh') assert.match(markdown, new RegExp(`says ${letter}\\.`));
  assert.deepEqual(losses, [
    'repeated_line 1-8 header: The Book of Examples (8)',
    'repeated_line 1-4 header: Chapter one (4)',
    'repeated_line 1-8 footer: 11 (8)',
    'repeated_line 1-8 footer: Draft of May 2020, 1 of 8 (8)',
    'repeated_line 5-8 header: Chapter two (4)',
  ]);
});

test('equal cells of a column are not a header, even at the top and bottom of pages', async () => {
  const pages = Array.from({ length: 4 }, (_, page) =>
    Array.from({ length: 25 }, (_, row): PdfLine[] => [
      ['A part that is long and is written', 40, 810 - 32 * row],
      [String(1_000 * page + row), 400, 804 - 32 * row],
      ['in two lines', 40, 798 - 32 * row],
    ]).flat(),
  );
  const { markdown, losses } = await read(pdfOf(pages));
  assert.equal(markdown.match(/A part that is long/g)?.length, 100);
  assert.equal(markdown.match(/in two lines/g)?.length, 100);
  assert.deepEqual(losses, []);
});

test('repeated text is kept if it is the only text, a slide title or a number out of sequence', async () => {
  const numbers = await read(pdfOf(['1', '2', '3'].map((number): PdfLine[] => [[number, 300, 30]])));
  assert.equal(numbers.markdown, '1\n\n2\n\n3\n');
  const slides = Array.from({ length: 5 }, (_, i): PdfLine[] => [[`Lesson ${i + 1}`, 50, 800, 24], ...PROSE]);
  assert.equal((await read(pdfOf(slides))).markdown.match(/^# Lesson \d$/gm)?.length, 5);
  const years = Array.from({ length: 5 }, (_, i): PdfLine[] => [...PROSE, [String(1990 + 3 * i * i), 50, 30]]);
  for (const year of [1990, 1993, 2002, 2017, 2038])
    assert.match((await read(pdfOf(years))).markdown, new RegExp(String(year)));
});

test('rotated pages, landscape text and vertical writing are read like any other text', async () => {
  const landscape = pdfOfPages(
    [
      ['The first line of a turned page', 'and the second one.']
        .map((text, i) => `BT /F1 12 Tf 0 1 -1 0 ${100 + 14 * i} 50 Tm (${text}) Tj ET`)
        .join('\n'),
      ['Upside down', 'as it may be scanned']
        .map((text, i) => `BT /F1 12 Tf -1 0 0 -1 500 ${100 + 14 * i} Tm (${text}) Tj ET`)
        .join('\n'),
      `${show('Costs of the year', 100, 700)} BT /F1 10 Tf 0 1 -1 0 80 500 Tm (in Euro) Tj ET`,
    ],
    '',
    ['/Rotate 90', '/Rotate 180'],
  );
  assert.equal(
    (await read(landscape)).markdown,
    'The first line of a turned page and the second one.\n\nUpside down as it may be scanned\n\nCosts of the year\n\nin Euro\n',
  );
});

const japanese = (encoding: string) =>
  `/F2<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/${encoding}/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>>>]>>`;

test('fonts with predefined Chinese, Japanese and Korean encodings are read, in lines and in columns', async () => {
  const lines = pdfOfPages(
    ['BT /F2 12 Tf 50 700 Td <93fa967b8cea836583588367> Tj ET BT /F1 12 Tf 50 650 Td (Hello) Tj ET'],
    japanese('90ms-RKSJ-H'),
  );
  assert.equal((await read(lines)).markdown, '日本語テスト\n\nHello\n');
  const columns = ['93fa967b8cea8365', '83588367', '93fa967b8cea'].map(
    (hex, i) => `BT /F2 12 Tf ${500 - 20 * i} 700 Td <${hex}> Tj ET`,
  );
  assert.equal((await read(pdfOfPages([columns.join(' ')], japanese('90ms-RKSJ-V')))).markdown, '日本語テスト日本語\n');
});

test('vertical text written character by character is read in columns from right to left', async () => {
  const text = '93fa967b8cea83658358836793fa967b8cea836583588367';
  const column = (count: number, x: number) =>
    Array.from(
      { length: count },
      (_, i) => `BT /F2 12 Tf ${x} ${700 - 14 * i} Td <${text.slice(4 * i, 4 * i + 4)}> Tj ET`,
    );
  const pdf = pdfOfPages(
    [[...column(12, 500), ...column(12, 480), ...column(5, 460)].join(' ')],
    japanese('90ms-RKSJ-H'),
  );
  assert.equal(
    (await read(pdf)).markdown.replace(/\s/g, ''),
    '日本語テスト日本語テスト日本語テスト日本語テスト日本語テス',
  );
  const label = pdfOfPages([column(4, 500).join(' ')], japanese('90ms-RKSJ-H'));
  assert.equal((await read(label)).markdown.replace(/\s/g, ''), '日本語テ');
});

test('text in a font without a mapping to Unicode is a loss of its page instead of gibberish', async () => {
  const font = (encoding: string) =>
    `/F2<</Type/Font/Subtype/Type0/BaseFont/ABCDEF+Foo/Encoding/${encoding}/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/ABCDEF+Foo/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor<</Type/FontDescriptor/FontName/ABCDEF+Foo/Flags 4>>>>]>>`;
  const glyphs = [...'The quick brown fox jumps over the lazy dog'].map((letter) =>
    (letter.charCodeAt(0) - 29).toString(16).padStart(4, '0'),
  );
  const unread = `BT /F2 12 Tf 50 600 Td <${glyphs.join('')}> Tj ET`;
  const pdf = pdfOfPages(
    [show('These words can be read.', 50, 700), `${show('And these.', 50, 700)} ${unread}`],
    font('Identity-H'),
  );
  const { markdown, losses, file_characters } = await read(pdf);
  assert.equal(markdown, 'These words can be read.\n\nAnd these.\n');
  assert.deepEqual(losses, ['unreadable_text 2: ']);
  assert.ok((file_characters ?? 0) > 28 + 30, 'they count as characters of the file');
  await refuse(pdfOfPages([unread], font('Identity-H')), /fonts of the PDF do not map to characters/);
  const numbered =
    '/F2<</Type/Font/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 1/LastChar 3/Widths[500 500 500]/CharProcs<<>>/Encoding<</Type/Encoding/Differences[1/g1/g2/g3]>>>>';
  const type3 = pdfOfPages([`${show('And these.', 50, 700)} BT /F2 12 Tf 50 600 Td <010203010203> Tj ET`], numbered);
  // Some charting programs number glyphs in order of use.
  const chart = pdfOfPages(
    [`${show('And these.', 50, 700)} ${show('!"#$%"#&#!', 50, 600, '/F2 12 Tf')}`],
    '/F2<</Type/Font/Subtype/Type1/BaseFont/Courier>>',
  );
  assert.deepEqual((await read(chart)).losses, ['unreadable_text 1: ']);
  assert.deepEqual(await read(type3), {
    markdown: 'And these.\n',
    losses: ['unreadable_text 1: '],
    file_characters: 15,
  });
});

/** A font that maps the codes from "a" on to these characters. */
function fontOf(characters: string): [font: string, encode: (text: string) => string] {
  const map = [...characters].map(
    (each, i) => `<${(97 + i).toString(16)}> <${each.charCodeAt(0).toString(16).padStart(4, '0')}>`,
  );
  const cmap = `1 begincodespacerange <00> <ff> endcodespacerange ${map.length} beginbfchar ${map.join(' ')} endbfchar`;
  return [cmap, (text) => [...text].map((each) => String.fromCharCode(97 + characters.indexOf(each))).join('')];
}

/** A PDF by dvipdfmx with one text per page, in a font of Knuth's that has ligatures at the codes of white space. */
function pdfWithKnuthsLigatures(...pages: string[]): Buffer {
  const map = '1 begincodespacerange <00><ff> endcodespacerange\n1 beginbfchar <0b><00660066> endbfchar';
  return pdfOfObjects(
    [
      '<</Type/Catalog/Pages 2 0 R>>',
      `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, i) => `${6 + 2 * i} 0 R`).join(' ')}]>>`,
      `<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+CMR10/FirstChar 0/LastChar 127/Widths[${'500 '.repeat(128)}]/ToUnicode 4 0 R>>`,
      streamObject('', Buffer.from(map)),
      '<</Producer(dvipdfmx \\(20100328\\))>>',
      ...pages.flatMap((array, i) => [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents ${7 + 2 * i} 0 R>>`,
        streamObject('', Buffer.from(`BT /F1 10 Tf 50 700 Td [${array}] TJ ET`)),
      ]),
    ],
    '/Info 5 0 R',
  );
}

test("ligatures missing in a font's ToUnicode map are restored, on whichever page they occur", async () => {
  const array = '(W)-9(e)-333(\\014nd)-333(speci\\014ed)-333(\\015ows)-333(o\\013)';
  assert.equal((await readPdf(pdfWithKnuthsLigatures(array))).markdown, 'We find specified flows off\n');
  const before = ['(One.)', '(Two.)', '(Three.)', '(Four.)', '(Five.)'];
  const { markdown } = await readPdf(pdfWithKnuthsLigatures(...before, array));
  assert.match(markdown, /^One\.\n.*\n\nWe find specified flows off\n$/s);
});

test('an accent painted over a letter joins it, and a separate accent does not', async () => {
  const line = (array: string, y: number) => `BT /F1 12 Tf 50 ${y} Td [${array}] TJ ET`;
  const pdf = pdfOfPages([
    [
      line(String.raw`(Voc\303) 333 (e n\304) 333 (ao est\302) 333 (a)`, 700),
      line(String.raw`(LICENC) 527 (\313) -194 (A)`, 660),
      line(String.raw`(m\302) 290 (\365dia, distribui\313) 420 (c\304) 333 (oes)`, 620),
      line(String.raw`(it\302s) 333 (1\302) 333 (2)`, 580),
    ].join('\n'),
  ]);
  const { markdown } = await read(pdf);
  assert.equal(markdown, 'Você não está\n\nLICENÇA\n\nmídia, distribuições it´s1´2\n');
});

test('raised or lowered numbers never join the number or word before them', async () => {
  const show = (text: string, x: number, y: number, size = 10) => `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`;
  const content = [
    ...[show('There are 10', 50, 700), show('6', 107.2, 704, 7), show('of H', 115, 700), show('2', 133.5, 698, 7)],
    ...[
      show('O, on the 1', 137.6, 700),
      show('st', 187.3, 704, 7),
      show('day', 195.5, 700),
      show('12', 211.8, 703.5, 7),
    ],
    ...[show('1', 50, 604, 6), show('A note below, with 5', 54, 600), show('7', 152, 600, 7)],
  ];
  const { markdown } = await readPdf(pdfOfPages([content.join('\n')]));
  assert.equal(markdown, 'There are 10⁶ of H₂O, on the 1st day¹²\n\n¹A note below, with 5 7\n');
});

test('Hebrew and Arabic words are in reading order, with letters instead of presentation forms', async () => {
  const [cmap, encode] = fontOf('שלוםעכ 12ﻢﻟﺎﻌﻟﺍ');
  const font =
    '/F2<</Type/Font/Subtype/TrueType/BaseFont/Foo/FirstChar 97/LastChar 113/Widths[500 500 500 500 500 500 500 500 500 500 500 500 500 500 500 500 500]/ToUnicode 5 0 R>>';
  const content = (texts: [string, number, number][]) =>
    texts.map(([text, x, y]) => `BT /F2 12 Tf ${x} ${y} Td (${encode(text)}) Tj ET`).join(' ');
  // Programs write the rightmost word first, and each word from left to right.
  const texts: [string, number, number][] = [
    ['םולש', 300, 700],
    ['21', 280, 700],
    ['םכ', 260, 700],
    ['ﻢﻟﺎﻌﻟﺍ', 300, 600],
  ];
  for (const order of [texts, texts.toReversed()]) {
    const pdf = pdfOfPages([content(order)], font);
    const objects = pdf.toString('latin1').replace(/xref.*/s, '');
    const withMap = Buffer.from(
      `${objects}5 0 obj\n<</Length ${cmap.length}>>\nstream\n${cmap}\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF`,
      'latin1',
    );
    assert.equal((await read(withMap)).markdown, 'שלום 21 כם\n\nالعالم\n');
  }
});

test('a damaged PDF yields its readable pages and a loss for each unreadable page', async () => {
  const pdf = pdfOfPages(['one', 'two', 'three'].map((word) => show(`Page ${word}.`, 50, 700)));
  // The second page has no contents, and the third is not a page object.
  const text = pdf.toString('latin1');
  const broken = Buffer.from(text.replace(/7 0 obj\n<<\/Type\/Page/, '7 0 obj\n<</Type/Pag_'), 'latin1');
  const without = await read(Buffer.from(text.replace(/(?<=Kids\[3 0 R 5 0 R )7 0 R/, '99 0 R'), 'latin1'));
  assert.equal(without.markdown, 'Page one.\n\nPage two.\n');
  assert.deepEqual(without.losses, ['page_unreadable 3: ', 'damaged_part 3 following pages, if any: ']);
  assert.equal((await read(broken)).markdown.startsWith('Page one.\n\nPage two.'), true);
  // Files optimized for the web have a trailer at their beginning.
  const beginning = pdf.subarray(9, text.indexOf('8 0 obj'));
  const cut = await read(Buffer.concat([Buffer.from('%PDF-1.7\ntrailer\n<</Root 1 0 R>>\n'), beginning]));
  assert.equal(cut.markdown, 'Page one.\n\nPage two.\n');
  const forWeb =
    '%PDF-1.7\n1000 0 obj\n<</Linearized 1/L 9999999>>\nendobj\ntrailer\n<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n';
  const cutForWeb = await read(Buffer.concat([Buffer.from(forWeb), beginning]));
  assert.deepEqual(cutForWeb.losses.at(-1), 'damaged_part 3 the end of the file is missing: ');
  const links = pdfOfPages([show('Its links are damaged.', 50, 700)], '', ['/Annots 6 0 R']).toString('latin1');
  const noLinks = await read(
    Buffer.from(links.replace(/xref.*/s, '6 0 obj\n[ ) ]\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF'), 'latin1'),
  );
  assert.equal(noLinks.markdown, 'Its links are damaged.\n');
  assert.deepEqual(noLinks.losses, ['damaged_part 1 links, notes and form fields: ']);
  assert.ok(cut.losses.includes('damaged_part 3 the end of the file is missing: '), cut.losses.join('\n'));
});

test('values of forms are shown in place, comments are listed as losses, and hidden fields are omitted', async () => {
  const field = (entries: string, y: number) => `<</Type/Annot/Subtype/Widget/Rect[150 ${y} 400 ${y + 16}]${entries}>>`;
  const pdf = pdfOfPages(
    [
      [show('Name:', 50, 704), show('Country:', 50, 674), show('Agreed:', 50, 644), show('Password:', 50, 614)].join(
        ' ',
      ),
    ],
    '',
    [
      `/Annots[${[
        field('/FT/Tx/T(name)/V(Ada Lovelace)/DA(/F1 12 Tf)', 700),
        field('/FT/Ch/T(country)/V(Great Britain)/Opt[(Great Britain)(France)]/DA(/F1 12 Tf)', 670),
        field('/FT/Btn/T(agreed)/V/Yes/AS/Yes/AP<</N<</Yes null/Off null>>>>', 640),
        field('/FT/Tx/Ff 8192/T(password)/V(secret)/DA(/F1 12 Tf)', 610),
        field('/FT/Tx/T(hidden)/V(unseen)/F 2/DA(/F1 12 Tf)', 580),
        '<</Type/Annot/Subtype/Text/Rect[10 10 30 30]/Contents(Is this right?)>>',
        '<</Type/Annot/Subtype/Link/Rect[50 700 100 716]/A<</S/URI/URI(https://example.com/name)>>>>',
      ].join('')}]`,
    ],
  );
  const { markdown, losses, file_characters } = await read(pdf);
  assert.equal(
    markdown,
    '| [Name:](https://example.com/name) | Ada Lovelace |\n| - | - |\n| Country: | Great Britain |\n| Agreed: | ☑ |\n\nPassword:\n',
  );
  assert.deepEqual(losses, ['comment 1: Is this right?']);
  assert.equal(file_characters, 'Name:Country:Agreed:Password:AdaLovelaceGreatBritain☑'.length);
});
