import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type PdfLine, pdfOf, pdfOfObjects, pdfOfPages } from '../../../../test/pdf.ts';
import { readItem } from './marks/item-marks.ts';
import { readPdf } from './read-pdf.ts';

/** An element of a structure tree: its role and children; numbers are indexes of texts. */
type Element = [role: string, ...children: (Element | number)[]];

/** A tagged PDF. `texts`: pieces of content with their places, in painting order. */
function taggedPdf(
  texts: readonly (readonly [text: string, x: number, y: number, page?: number, font?: string])[],
  tree: Element,
): Buffer {
  const pages = 1 + Math.max(...texts.map(([, , , page = 0]) => page));
  const onPage = Array.from({ length: pages }, (_, page) =>
    texts.flatMap(([, , , own = 0], i) => (own === page ? [i] : [])),
  );
  const parents: string[] = [];
  const objects: string[] = [];
  const first = 4 + 2 * pages;
  const add = ([role, ...children]: Element, parent: number): number => {
    const number = first + objects.length;
    objects.push('');
    const kids = children.map((child) => {
      if (Array.isArray(child)) return `${add(child, number)} 0 R`;
      parents[child] = `${number} 0 R`;
      const page = texts[child]?.[3] ?? 0;
      return `<</Type/MCR/Pg ${4 + 2 * page} 0 R/MCID ${onPage[page]?.indexOf(child)}>>`;
    });
    objects[number - first] = `<</Type/StructElem/S/${role}/P ${parent} 0 R/K[${kids.join(' ')}]>>`;
    return number;
  };
  const root = add(tree, 3);
  const [font, fixed] = ['Helvetica', 'Courier'].map((name) => `<</Type/Font/Subtype/Type1/BaseFont/${name}>>`);
  const written = onPage.flatMap((own, page) => {
    const content = own.map((text, id) => {
      const [words, x, y, , name = 'F1'] = texts[text] ?? [];
      const mark = parents[text] ? `/Span<</MCID ${id}>>` : '/Artifact<<>>';
      return `${mark} BDC BT /${name} 10 Tf ${x} ${y} Td (${words}) Tj ET EMC`;
    });
    return [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/StructParents ${page}/Resources<</Font<</F1${font}/F2${fixed}>>>>/Contents ${5 + 2 * page} 0 R>>`,
      `<</Length ${content.join(' ').length}>>\nstream\n${content.join(' ')}\nendstream`,
    ];
  });
  const nums = onPage.map((own, page) => `${page}[${own.map((text) => parents[text] ?? 'null').join(' ')}]`);
  return pdfOfObjects([
    '<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 3 0 R>>',
    `<</Type/Pages/Count ${pages}/Kids[${onPage.map((_, page) => `${4 + 2 * page} 0 R`).join(' ')}]>>`,
    `<</Type/StructTreeRoot/K[${root} 0 R]/ParentTree<</Nums[${nums.join('')}]>>>>`,
    ...written,
    ...objects,
  ]);
}

test('a tagged PDF follows the headings, lists, tables and order of its structure tree, and spanning cells are in their columns', async () => {
  const pdf = taggedPdf(
    [
      // A note in the margin is painted first and read last.
      ['A note beside it.', 400, 700],
      ['The same size as text', 50, 750],
      ['First words of a para-', 50, 720],
      ['graph that is broken.', 50, 708],
      ['1', 60, 690],
      ['of a list', 75, 690],
      ['Name', 50, 650],
      ['Amount', 150, 650],
      ['Unit', 250, 650],
      ['total of both', 50, 636],
      ['kg', 250, 636],
      ['salt', 50, 622],
      ['12', 150, 622],
      ['Running title', 50, 825],
    ],
    [
      'Document',
      ['H2', 1],
      ['P', 2, 3],
      ['L', ['LI', ['Lbl', 4], ['LBody', ['P', 5]]]],
      [
        'Table',
        ['TR', ['TH', 6], ['TH', 7], ['TH', 8]],
        ['TBody', ['TR', ['TD', ['P', 9]], ['TD', 10]], ['TR', ['TD', 11], ['TD', 12]]],
      ],
      ['Aside', 0],
    ],
  );
  const { markdown, losses } = await readPdf(pdf);
  assert.equal(
    markdown,
    '## The same size as text\n\nFirst words of a paragraph that is broken.\n\n- 1 of a list\n\n' +
      '| Name | Amount | Unit |\n| - | - | - |\n| total of both | | kg |\n| salt | 12 | |\n\nA note beside it.\n',
  );
  assert.deepEqual(
    losses?.map(({ kind, excerpt }) => [kind, excerpt]),
    [['repeated_line', 'Running title']],
    'what the document marks as no text of its own, at the edge of the page',
  );
});

test('a structure tree that lacks most of a page is ignored', async () => {
  const pdf = taggedPdf(
    [
      ['One word.', 50, 700],
      ['All the rest of the page stands here.', 50, 730],
    ],
    ['Document', ['P', 0]],
  );
  const lost = Buffer.from(pdf.toString('latin1').replace('/Artifact<<>>', '/Unknown<<>>'), 'latin1');
  assert.equal((await readPdf(lost)).markdown, 'All the rest of the page stands here.\n\nOne word.\n');
});

test('lists of a tagged PDF are nested, and items and tables that span two pages are joined', async () => {
  const row = (from: number): Element => ['TR', ['TD', from], ['TD', from + 1]];
  const pdf = taggedPdf(
    [
      ['Outer item', 60, 760],
      ['1.', 80, 745],
      ['Inner item', 95, 745],
      ['2.', 80, 730],
      ['Inner item that goes', 95, 730],
      ['Name', 50, 80],
      ['Amount', 150, 80],
      ['salt', 50, 65],
      ['12', 150, 65],
      ['Name', 50, 800, 1],
      ['Amount', 150, 800, 1],
      ['flour', 50, 785, 1],
      ['500', 150, 785, 1],
      ['-', 60, 700, 1],
      ['Last item of page two, which', 75, 700, 1],
      ['ends on page three.', 75, 800, 2],
      ['Behind it.', 50, 700, 2],
    ],
    [
      'Document',
      ['L', ['LI', ['Lbl'], ['LBody', 0, ['L', ['LI', ['Lbl', 1], 2], ['LI', ['Lbl', 3], 4]]]]],
      ['Table', ['TR', ['TH', 5, 9], ['TH', 6, 10]], row(7), row(11)],
      ['L', ['LI', ['Lbl', 13], ['LBody', 14, 15]]],
      ['P', 16],
    ],
  );
  const { markdown, losses, block_pages = [] } = await readPdf(pdf);
  assert.equal(
    markdown,
    '- Outer item\n  1. Inner item\n  2. Inner item that goes\n\n' +
      '| Name | Amount |\n| - | - |\n| salt | 12 |\n| flour | 500 |\n\n' +
      '- Last item of page two, which ends on page three.\n\nBehind it.\n',
  );
  assert.deepEqual(
    losses?.map(({ kind, first_page, excerpt }) => [kind, first_page, excerpt]),
    [['repeated_line', 2, 'Name Amount']],
    'a head that is repeated is said',
  );
  const pages = block_pages.map(({ first_page, last_page, boxes = [] }) => [first_page, last_page, boxes.length]);
  assert.deepEqual(pages, [
    [1, 1, 3],
    [1, 2, 3],
    [2, 3, 1],
    [3, 3, 1],
  ]);
});

test('items of a tagged PDF that are monospaced names stay items, and text below a nested list continues its item', async () => {
  const item = (mark: number, ...body: (Element | number)[]): Element => ['LI', ['Lbl', mark], ['LBody', ...body]];
  const name = (text: string, x: number, y: number, page = 0) => [text, x, y, page, 'F2'] as const;
  const pdf = taggedPdf(
    [
      ['Prose of the document, of which there is more than of the names.', 50, 780],
      ['-', 60, 760],
      ['The input is one of these:', 75, 760],
      ['-', 80, 745],
      name('fromText(text)', 95, 745),
      ['-', 80, 730],
      name('fromFile(path)', 95, 730),
      ['and nothing else.', 75, 715],
      ['-', 60, 700],
      ['The output is one of these:', 75, 700],
      ['-', 80, 685],
      name('toText()', 95, 685),
      ['which is said on the next page.', 75, 800, 1],
      ['-', 60, 785, 1],
      ['Behind them.', 75, 785, 1],
    ],
    [
      'Document',
      ['P', 0],
      [
        'L',
        item(1, ['P', 2], ['L', item(3, 4), item(5, 6)], ['P', 7]),
        item(8, ['P', 9], ['L', item(10, 11)], ['P', 12]),
        item(13, 14),
      ],
    ],
  );
  assert.equal(
    (await readPdf(pdf)).markdown,
    'Prose of the document, of which there is more than of the names.\n\n' +
      '- The input is one of these:\n\n  - fromText(text)\n  - fromFile(path)\n\n  and nothing else.\n' +
      '- The output is one of these:\n\n  - toText()\n\n  which is said on the next page.\n- Behind them.\n',
  );
});

test('a row of a tagged table that spans two pages is joined, and equal cells on all pages are not a header', async () => {
  const cell = (text: string, x: number, y: number, page: number) => [text, x, y, page] as const;
  const pages = [0, 1, 2];
  // On every page the table begins at the top, with a row whose second cell is equal.
  const pdf = taggedPdf(
    pages.flatMap((page) => [
      cell(page === 0 ? 'Name' : '', 50, 820, page),
      cell(page === 0 ? 'Meaning' : `goes on with part ${page}`, 150, 820, page),
      cell(`entry ${'abc'[page]}`, 50, 800, page),
      cell('the same words', 150, 800, page),
      cell(`last of ${'abc'[page]}`, 50, 60, page),
      cell('a text that is not at its end,', 150, 60, page),
      cell('because its cell', 150, 48, page),
    ]),
    [
      'Document',
      [
        'Table',
        ['TR', ['TH', 0], ['TH', 1]],
        ...pages.flatMap((page): Element[] => {
          const at = 7 * page;
          return [
            ['TR', ['TD', at + 2], ['TD', at + 3]],
            ['TR', ['TD', at + 4], ['TD', at + 5, at + 6, ...(page < 2 ? [at + 8] : [])]],
          ];
        }),
      ],
    ],
  );
  const open = 'a text that is not at its end, because its cell';
  const { markdown, losses } = await readPdf(pdf);
  assert.deepEqual(markdown.trimEnd().split('\n'), [
    '| Name | Meaning |',
    '| - | - |',
    '| entry a | the same words |',
    `| last of a | ${open} goes on with part 1 |`,
    '| entry b | the same words |',
    `| last of b | ${open} goes on with part 2 |`,
    '| entry c | the same words |',
    `| last of c | ${open} |`,
  ]);
  assert.deepEqual(losses, []);
});

test('lists without tags are nested by indentation and keep their numbers', async () => {
  const { markdown, block_pages = [] } = await readPdf(
    pdfOf([
      [
        ['This is a paragraph of text in front of the lists of this page.', 50, 760],
        ['1. First', 50, 740],
        ['2. Second', 50, 726],
        ['* below it', 70, 712],
        ['* and this', 70, 698],
        ['- deeper', 90, 684],
        ['10. Tenth', 45, 670],
        ['11. Eleventh', 45, 656],
        ['1. First of another', 50, 642],
      ],
    ]),
  );
  const lists =
    '1. First\n2. Second\n   - below it\n   - and this\n     - deeper\n\n10) Tenth\n11) Eleventh\n\n1. First of another\n';
  assert.equal(markdown, `This is a paragraph of text in front of the lists of this page.\n\n${lists}`);
  assert.deepEqual(
    block_pages.map(({ boxes = [] }) => boxes.length),
    [1, 5, 2, 1],
    'each item has its place',
  );
});

test('text that a structure tree lacks is inserted at its position on the page', async () => {
  const pdf = taggedPdf(
    [
      ['A heading as large as the text', 50, 760],
      ['An untagged badge', 50, 730],
      ['A paragraph with enough words for most of the page.', 50, 700],
      ['An untagged end', 50, 670],
    ],
    ['Document', ['H1', 0], ['P', 2]],
  );
  const partly = Buffer.from(pdf.toString('latin1').replaceAll('/Artifact<<>>', '/Unknown<<>>'), 'latin1');
  assert.equal(
    (await readPdf(partly)).markdown,
    '# A heading as large as the text\n\nAn untagged badge\n\nA paragraph with enough words for most of the page.\n\nAn untagged end\n',
  );
});

test('a list mark is recognized in front of a link', () => {
  const link = { text: ' 25.x', url: 'https://example.org/' };
  const read = (mark: string) => readItem([{ text: mark, url: '' }, link]);
  assert.deepEqual(read('7.'), { ordered: true, start: 7, runs: [{ ...link, text: '25.x' }] });
  assert.deepEqual(read('*'), { ordered: false, start: 1, runs: [{ ...link, text: '25.x' }] });
  assert.deepEqual(read('a)').runs, [{ text: 'a)', url: '' }, link], 'letters stay in the text');
});

test('bookmarks make headings of lines with the same words on their page, even over several lines', async () => {
  const prose = 'This is a sentence of the text.';
  const pages = [
    [
      ['1 Beginnings of every-', 700],
      ['thing', 688],
      [prose, 676],
      ['Details', 664],
      [prose, 652],
      ['Later', 600],
    ],
    [
      ['Later', 700],
      [prose, 688],
    ],
  ] as const;
  const contents = pages.map((lines) => lines.map(([text, y]) => `BT /F1 10 Tf 50 ${y} Td (${text}) Tj ET`).join(' '));
  const bookmark = (title: string, page: number, more: string) =>
    `<</Title(${title})/Dest[${3 + 2 * page} 0 R/Fit]${more}>>`;
  const [first = '', second = '', child = ''] = [20, 21, 22].map((number) => `${number} 0 R`);
  const plain = pdfOfPages(contents, '', [], '/Outlines 19 0 R').toString('latin1');
  const outline = [
    `19 0 obj\n<</First ${first}/Last ${second}/Count 2>>\nendobj`,
    `20 0 obj\n${bookmark('Beginnings of Everything', 0, `/Parent 19 0 R/Next ${second}/First ${child}/Last ${child}/Count 1`)}\nendobj`,
    `21 0 obj\n${bookmark('Later', 1, `/Parent 19 0 R/Prev ${first}`)}\nendobj`,
    `22 0 obj\n${bookmark('Details', 0, `/Parent ${first}`)}\nendobj`,
  ];
  const pdf = plain.replace(/xref.*/s, `${outline.join('\n')}\ntrailer\n<</Root 1 0 R>>\n%%EOF`);
  assert.equal(
    (await readPdf(Buffer.from(pdf, 'latin1'))).markdown,
    `# 1 Beginnings of everything\n\n${prose}\n\n## Details\n\n${prose}\n\nLater\n\n# Later\n\n${prose}\n`,
  );
});

test('two columns of references are read one after the other, with each entry as a paragraph', async () => {
  const entries = (from: number, x: number) =>
    Array.from({ length: 8 }, (_, i) => [
      [`[${from + i}] A. Author and B. Writer. The title of work ${from + i}, which`, x, 700 - 36 * i] as const,
      ['goes on in a second line as long as the first one is in', x + 16, 690 - 36 * i] as const,
      [`the column, ${1990 + i}.`, x + 16, 680 - 36 * i] as const,
    ]).flat();
  const { markdown } = await readPdf(pdfOf([[...entries(1, 50), ...entries(9, 320)].toSorted((a, b) => b[2] - a[2])]));
  const order = [...markdown.matchAll(/\\\[(\d+)\]/g)].map(([, number]) => Number(number));
  assert.deepEqual(
    order,
    Array.from({ length: 16 }, (_, i) => i + 1),
  );
  assert.equal(markdown.split('\n\n').length, 16, markdown);
});

test('three columns of short lines, as on a reference card, are read one after the other, but rows of a table are not', async () => {
  const entries = (column: number) =>
    Array.from({ length: 14 }, (_, i): PdfLine[] => {
      const y = 700 - 13 * i - 6 * Math.floor(i / (3 + column));
      return [
        [`command ${column}-${i}`, 40 + 180 * column, y],
        [`does ${column}-${i}`, 130 + 180 * column, y],
      ];
    }).flat();
  const title: PdfLine = ['Reference card of everything', 230, 760, 16];
  const { markdown } = await readPdf(pdfOf([[title, ...entries(0), ...entries(1), ...entries(2)]]));
  const order = [...markdown.matchAll(/(?:command|does) (\d-\d+)/g)].map(([, entry]) => entry);
  const inOrder = [0, 1, 2].flatMap((column) => Array.from({ length: 14 }, (_, i) => `${column}-${i}`));
  assert.deepEqual(
    order,
    inOrder.flatMap((entry) => [entry, entry]),
  );
  assert.match(markdown, /^# Reference card/);
  // The same cells, written row by row, form rows.
  const rows = Array.from({ length: 14 }, (_, row) =>
    [0, 1, 2, 3].map((column): PdfLine => [`cell ${row}-${column}`, 40 + 130 * column, 700 - 13 * row]),
  );
  const table = await readPdf(pdfOf([rows.flat()]));
  assert.ok(table.markdown.includes('| cell 9-0 | cell 9-1 | cell 9-2 | cell 9-3 |'), table.markdown);
  // Written column by column, the cells still form rows, because they are at the same heights.
  const turned = await readPdf(pdfOf([[0, 1, 2, 3].flatMap((column) => rows.map((row) => row[column] as PdfLine))]));
  assert.equal(turned.markdown, table.markdown);
});

test('links within a PDF lead to the heading or paragraph at their destination', async () => {
  const link = (at: string, to: string) => `<</Type/Annot/Subtype/Link/Rect[${at}]/${to}>>`;
  const first = [
    'BT /F1 12 Tf 50 700 Td (See the details of all and more here. . . . 2) Tj ET',
    'BT /F1 12 Tf 50 650 Td (Nowhere) Tj ET BT /F1 12 Tf 50 600 Td (This page) Tj ET',
  ].join(' ');
  const second = [
    'BT /F1 20 Tf 50 780 Td (Details) Tj ET BT /F1 12 Tf 50 700 Td (A paragraph of many words.) Tj ET',
    'BT /F1 12 Tf 50 600 Td (Another paragraph of many words.) Tj ET',
  ].join(' ');
  const annotations = [
    // The linked words are a part of their text.
    link('70 696 128 712', 'Dest/details'),
    link('266 696 300 712', 'A<</S/GoTo/D[5 0 R/XYZ 50 615 null]>>'),
    link('50 646 110 662', 'Dest/missing'),
    link('50 596 110 612', 'Dest[3 0 R/Fit]'),
  ];
  const { markdown } = await readPdf(
    pdfOfPages([first, second], '', [`/Annots[${annotations.join('')}]`], '/Dests<</details[5 0 R/XYZ 50 800 null]>>'),
  );
  assert.equal(
    markdown,
    [
      '<a id="place-3"></a>See [the details](#details) of all and more here. . . . [2](#place-1)',
      'Nowhere',
      '[This page](#place-3)',
      '# Details',
      'A paragraph of many words.',
      '<a id="place-1"></a>Another paragraph of many words.\n',
    ].join('\n\n'),
  );
});

/** RC4 as PDF uses it with 40-bit keys: version 1, revision 2. */
function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Array.from({ length: 256 }, (_, i) => i);
  const swap = (i: number, j: number) => ([state[i], state[j]] = [state[j] as number, state[i] as number]);
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + (state[i] as number) + (key[i % key.length] as number)) & 255;
    swap(i, j);
  }
  let [i, j] = [0, 0];
  return Buffer.from(
    data.map((byte) => {
      i = (i + 1) & 255;
      j = (j + (state[i] as number)) & 255;
      swap(i, j);
      return byte ^ (state[((state[i] as number) + (state[j] as number)) & 255] as number);
    }),
  );
}

const PADDING = Buffer.from('28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A', 'hex');

/** A PDF with one line, encrypted with a password. */
function encryptedPdf(text: string, password: string): Buffer {
  const md5 = (...parts: Uint8Array[]) => createHash('md5').update(Buffer.concat(parts)).digest();
  const padded = Buffer.concat([Buffer.from(password), PADDING]).subarray(0, 32);
  const owner = rc4(md5(padded).subarray(0, 5), padded);
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(-4);
  const id = Buffer.from('0123456789abcdef');
  const key = md5(padded, owner, permissions, id).subarray(0, 5);
  const user = rc4(key, PADDING);
  // The contents are object 4, generation 0.
  const content = rc4(
    md5(key, Buffer.from([4, 0, 0, 0, 0])).subarray(0, 10),
    Buffer.from(`BT /F1 10 Tf 50 700 Td (${text}) Tj ET`),
  );
  const hex = (bytes: Buffer) => `<${bytes.toString('hex')}>`;
  return pdfOfObjects(
    [
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Contents 4 0 R>>',
      Buffer.concat([Buffer.from(`<</Length ${content.length}>>\nstream\n`), content, Buffer.from('\nendstream')]),
    ],
    `/Encrypt<</Filter/Standard/V 1/R 2/O${hex(owner)}/U${hex(user)}/P -4>>/ID[${hex(id)}${hex(id)}]`,
  );
}

test('an encrypted PDF is read if its password is empty, and otherwise refused with advice', async () => {
  assert.equal((await readPdf(encryptedPdf('Words that may be read.', ''))).markdown, 'Words that may be read.\n');
  await assert.rejects(
    readPdf(encryptedPdf('Words that may not.', 'secret')),
    /password-protected; save it without a password/,
  );
});

test('a table that continues on the next page is joined, with or without a repeated head, and another table stays separate', async () => {
  const row = (y: number, ...cells: string[]): PdfLine[] => cells.map((cell, i) => [cell, 60 + 150 * i, y]);
  const first = [...row(120, 'Part', 'Length'), ...row(106, 'Pipe', '10'), ...row(92, 'Lid', '12')];
  const page = (...head: string[]) => [...row(780, ...head), ...row(766, 'Rod', '7'), ...row(752, 'Nut', '10')];
  const { markdown, losses } = await readPdf(pdfOf([first, page('Part', 'Length')]));
  assert.equal(markdown, '| Part | Length |\n| - | - |\n| Pipe | 10 |\n| Lid | 12 |\n| Rod | 7 |\n| Nut | 10 |\n');
  assert.deepEqual(
    losses?.map(({ kind, first_page, excerpt }) => [kind, first_page, excerpt]),
    [['repeated_line', 2, 'Part Length']],
  );
  const other = await readPdf(pdfOf([first, page('Part', 'Weight')]));
  assert.equal(other.markdown.split('| - |').length, 3, other.markdown);
  assert.deepEqual(other.losses, []);
  const rest = await readPdf(pdfOf([first, page('Pipe', '10')]));
  assert.match(
    rest.markdown,
    /\| Lid \| 12 \|\n\| Pipe \| 10 \|\n\| Rod \| 7 \|/,
    'its columns stand at the same places',
  );
  assert.deepEqual(rest.losses, []);
  const elsewhere = pdfOf([first, page('Pipe', '10').map(([text, x, y]): PdfLine => [text, x + 40, y])]);
  assert.equal((await readPdf(elsewhere)).markdown.split('| - |').length, 3);
  const numbers = await readPdf(pdfOf([[...row(134, 'a', '1'), ...first], page('a', '1')]));
  assert.equal(numbers.markdown.split('| a | 1 |').length, 3, 'a number is no head');
});

test('columns of an index with entries at the same heights are read one after the other, with each entry as a paragraph', async () => {
  const entry = (word: string, i: number) => `${word} ${i}, ${i + 3}${i % 3 === 0 ? `, ${i + 20}` : ''}`;
  const column = (word: string, x: number) =>
    Array.from({ length: 14 }, (_, i): PdfLine => [entry(word, i), x, 760 - 12 * i]);
  const { markdown } = await readPdf(pdfOf([[...column('alpha', 60), ...column('beta', 320)]]));
  const all = ['alpha', 'beta'].flatMap((word) => Array.from({ length: 14 }, (_, i) => entry(word, i)));
  assert.equal(markdown, `${all.join('\n\n')}\n`);
  // Written row by row, the same text is a table.
  const rows = column('alpha', 60).flatMap((line, i) => [line, column('beta', 320)[i] as PdfLine]);
  assert.match((await readPdf(pdfOf([rows]))).markdown, /\| alpha 1, 4 \| beta 1, 4 \|/);
});

test('three columns of an index with leaders and continued page lists are read one after the other, and entries of contents are not headings', async () => {
  const column = (name: string, x: number) =>
    Array.from({ length: 15 }, (_, i): PdfLine[] => [
      i % 3 === 2 ? ['101, 112, 140,', x + 30, 760 - 12 * i] : [`${name} ${i} . . . . . . ${i + 5}`, x, 760 - 12 * i],
    ]).flat();
  const { markdown } = await readPdf(
    pdfOf([[...column('alpha', 50), ...column('beta', 220), ...column('gamma', 390)]]),
  );
  const order = [...markdown.matchAll(/(alpha|beta|gamma) (\d+)/g)].map(([entry]) => entry);
  const numbers = Array.from({ length: 15 }, (_, i) => i).filter((i) => i % 3 !== 2);
  assert.deepEqual(
    order,
    ['alpha', 'beta', 'gamma'].flatMap((name) => numbers.map((i) => `${name} ${i}`)),
    markdown,
  );
  const contents = Array.from(
    { length: 12 },
    (_, i): PdfLine => [`1.${i} A part of it . . ${i + 7}`, 50, 760 - 12 * i],
  );
  const read = (await readPdf(pdfOf([contents]))).markdown;
  assert.equal(read, `${contents.map(([text]) => text).join('\n\n')}\n`, 'a paragraph each');
});

test('a table of wide cells does not become two columns because of headings and short lines around it', async () => {
  const around = (from: number): PdfLine[] =>
    Array.from({ length: 4 }, (_, i): PdfLine[] => [
      ['A sentence that goes over all of the page, as all those of its prose do, until the', 50, from - 40 * i],
      ['end of the paragraph, which is here.', 50, from - 40 * i - 12],
    ]).flat();
  const rows = ['perl', 'python', 'tclsh', 'wish', 'expect', 'awk'].flatMap((name, i): PdfLine[] => [
    [name, 50, 560 - 16 * i],
    [`The language of programs that ${name} is for`, 260, 560 - 16 * i],
  ]);
  const { markdown } = await readPdf(pdfOf([[...around(760), ...rows, ...around(420)]]));
  assert.match(markdown, /\| tclsh \| The language of programs that tclsh is for \|/, markdown);
});

test('numbers of a chart are not headings, however large, and do not lower the levels of headings', async () => {
  const lines: PdfLine[] = [
    ['Sales of the year', 50, 780, 16],
    ['Sales rose in every year, as the figure shows.', 50, 750, 10],
    ['88.3', 100, 700, 24],
    ['66.2 %', 200, 660, 24],
    ['(51)', 300, 620, 14],
    ['The text goes on below the figure, in its usual size.', 50, 560, 10],
  ];
  const { markdown } = await readPdf(pdfOf([lines]));
  assert.match(markdown, /^# Sales of the year\n/);
  assert.deepEqual(markdown.match(/^#.*$/gm), ['# Sales of the year']);
  for (const number of ['88.3', '66.2 %', '51']) assert.ok(markdown.includes(number), number);
});
