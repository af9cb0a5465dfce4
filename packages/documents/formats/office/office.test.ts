import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { odfOf, pptxOf, shapeOf, xlsxOf } from '../../../../test/office.ts';
import { completeness } from '../../compile-file.ts';
import { ExtractError } from '../extract-error.ts';
import type { Loss } from '../losses.ts';
import { readDocument } from '../read-document.ts';

const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(60)]);

async function read(bytes: Uint8Array, filename = 'a') {
  const document = await readDocument({ filename, content_type: '', bytes });
  const text = [renderMarkdown(document.markdown).text, document.rest ?? ''].join('\n');
  return { ...document, losses: completeness(document, text).losses };
}

const short = (losses: readonly Loss[] = []) => losses.map(({ kind, excerpt }) => `${kind}: ${excerpt}`.trim());

test('slides of a presentation become headings, with their lists, tables, links, pictures and notes', async () => {
  const table = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${[
    ['Part', 'Length'],
    ['Pipe', '10 | 12'],
  ]
    .map(
      (row) =>
        `<a:tr>${row.map((cell) => `<a:tc><a:txBody><a:p><a:r><a:t>${cell}</a:t></a:r></a:p></a:txBody></a:tc>`).join('')}</a:tr>`,
    )
    .join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  const item = (text: string, level: number) => `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const link =
    '<a:p><a:r><a:rPr b="1"/><a:t>See </a:t></a:r><a:r><a:rPr><a:hlinkClick r:id="rId7"/></a:rPr><a:t>the plan</a:t></a:r></a:p>';
  const { kind, markdown, pictures, losses } = await read(
    pptxOf(
      [
        { shapes: shapeOf('ctrTitle', 'Water &amp; work') + shapeOf('subTitle', 'A talk') },
        {
          shapes:
            shapeOf('title', 'What to do') +
            shapeOf('any', item('Measure', 0), item('twice', 1), item('Cut', 0)) +
            shapeOf('', link) +
            `<p:grpSp>${table}</p:grpSp>` +
            '<p:pic><p:nvPicPr><p:cNvPr id="4" name="p" descr="A pipe"/></p:nvPicPr><p:blipFill><a:blip r:embed="rId8"/></p:blipFill></p:pic>' +
            shapeOf('sldNum', '2'),
          notes: 'Say it slowly.',
          relations: [
            ['rId7', 'hyperlink', 'https://plan.example/'],
            ['rId8', 'image', '../media/image1.png'],
          ],
        },
        { shapes: shapeOf('', 'No title here') },
      ],
      [['ppt/media/image1.png', PNG]],
    ),
    'talk.pptx',
  );
  assert.equal(kind, 'pptx');
  assert.equal(
    markdown.replace(/picture_[0-9a-f]+/, 'picture'),
    '## Water & work\n\nA talk\n\n## What to do\n\n- Measure\n  - twice\n- Cut\n\n**See** [the plan](https://plan.example/)\n\n' +
      '| Part | Length |\n| - | - |\n| Pipe | 10 \\| 12 |\n\n![A pipe](attachment:picture)\n\n> Notes:\n>\n> Say it slowly.\n\n## Slide 3\n\nNo title here\n',
  );
  assert.equal(pictures?.length, 1);
  assert.deepEqual(short(losses), ['repeated_line: 2']);
});

test('hidden slides, comments, charts and pictures that no browser shows are listed as losses of a presentation', async () => {
  const chart =
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="Chart 1"/></p:nvGraphicFramePr></p:graphicFrame>';
  const equation = '<a:p><a14:m><m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath></a14:m></a:p>';
  const metafile =
    '<p:pic><p:nvPicPr><p:cNvPr id="4" name="p" descr="A drawing"/></p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/></p:blipFill></p:pic>';
  const { markdown, losses } = await read(
    pptxOf(
      [
        {
          shapes: shapeOf('title', 'Shown') + shapeOf('', equation) + chart + metafile,
          relations: [
            ['rId2', 'image', '../media/a.wmf'],
            ['rId3', 'comments', '../comments/comment1.xml'],
          ],
        },
        { shapes: shapeOf('title', 'A slide that only its author sees, with all these words'), attributes: 'show="0"' },
      ],
      [
        ['ppt/media/a.wmf', 'metafile'],
        ['ppt/comments/comment1.xml', '<p:cmLst xmlns:p="p"><p:cm><p:text>Is this so?</p:text></p:cm></p:cmLst>'],
      ],
    ),
  );
  assert.equal(markdown, '## Shown\n');
  assert.deepEqual(short(losses).sort(), [
    'comment: Is this so?',
    'embedded_object: Chart 1',
    'equation: a=b',
    'hidden_text: A slide that only its author sees, with all these words',
    'picture: A drawing',
  ]);
});

const STYLES =
  '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/><numFmt numFmtId="165" formatCode="#,##0.00\\ &quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="21"/></cellXfs></styleSheet>';

test('sheets of a workbook become tables with dates, percentages, formulas and links as the cells show them', async () => {
  const row = (n: number, cells: string) => `<row r="${n}">${cells}</row>`;
  const { kind, markdown, losses } = await read(
    xlsxOf(
      [
        {
          name: 'Stock',
          rows:
            row(
              2,
              '<c r="B2" t="s"><v>0</v></c><c r="C2" t="inlineStr"><is><t>Since</t></is></c><c r="D2" t="str"><v>Share</v></c><c r="E2" t="s"><v>1</v></c>',
            ) +
            row(
              3,
              '<c r="B3" t="s"><v>2</v></c><c r="C3" s="1"><v>45000</v></c><c r="D3" s="2"><f>A1/2</f><v>0.125</v></c><c r="E3"><v>0.1</v></c>',
            ) +
            row(
              5,
              '<c r="B5"><v>1234567.891</v></c><c r="C5" s="3"><v>45000.75</v></c><c r="D5" t="b"><v>1</v></c><c r="E5" s="5"><v>0.5</v></c>',
            ) +
            row(6, '<c r="B6" s="4"><v>3</v></c><c r="C6" t="e"><v>#DIV/0!</v></c><c r="D6"><f>NOW()</f></c>'),
          behind: '<hyperlinks><hyperlink ref="B3" r:id="rId1"/></hyperlinks>',
          relations: [['rId1', 'hyperlink', 'https://pipe.example/?a=1&amp;b=2']],
        },
        { name: 'Empty', rows: '' },
      ],
      { strings: ['Part', 'Tail|end', '<r><t>Pi</t></r><r><t>pe</t></r><rPh><t>x</t></rPh>'], styles: STYLES },
    ),
    'stock.xlsx',
  );
  assert.equal(kind, 'xlsx');
  assert.equal(
    markdown,
    '## Stock\n\n| Part | Since | Share | Tail\\|end |\n| - | - | - | - |\n| [Pipe](https://pipe.example/?a=1\\&b=2) | 2023-03-15 | 12.5% | 0.1 |\n' +
      '| 1234567.891 | 2023-03-15 18:00 | TRUE | 12:00 |\n| 3 | #DIV/0! | | |\n\n## Empty\n'.replaceAll(
        '| | |',
        '| | |',
      ),
  );
  assert.deepEqual(short(losses), ['metadata:', 'equation:']);
});

test('hidden sheets, rows and columns, comments and charts are listed as losses of a workbook', async () => {
  const { markdown, losses } = await read(
    xlsxOf(
      [
        {
          name: 'A',
          before: '<cols><col min="2" max="2" hidden="1"/></cols>',
          rows: '<row r="1"><c r="A1" t="str"><v>one</v></c><c r="B1" t="str"><v>secret</v></c></row><row r="2" hidden="1"><c r="A2" t="str"><v>two</v></c></row>',
          relations: [
            ['rId1', 'comments', '../comments1.xml'],
            ['rId2', 'drawing', '../drawings/drawing1.xml'],
          ],
        },
        { name: 'B', state: 'hidden', rows: '<row r="1"><c r="A1" t="str"><v>words of a hidden sheet</v></c></row>' },
      ],
      {
        parts: [
          [
            'xl/comments1.xml',
            '<comments><commentList><comment ref="A1"><text><r><t>Why?</t></r></text></comment></commentList></comments>',
          ],
          [
            'xl/drawings/_rels/drawing1.xml.rels',
            '<Relationships><Relationship Id="rId1" Type="x/chart" Target="../charts/chart1.xml"/></Relationships>',
          ],
        ],
      },
    ),
  );
  assert.equal(markdown, '## A\n\n| one |\n| - |\n');
  assert.deepEqual(short(losses), [
    'comment: A: Why?',
    'embedded_object: A: chart',
    'hidden_text: 2 cells of hidden rows and columns: secret two',
    'hidden_text: B: words of a hidden sheet',
  ]);
});

test('a long sheet shows its beginning and keeps the rest', async () => {
  const rows = Array.from({ length: 3_000 }, (_, i) => `<row><c t="str"><v>name ${i}</v></c><c><v>${i}</v></c></row>`);
  const { markdown, rest, losses } = await read(xlsxOf([{ name: 'Long', rows: rows.join('') }]));
  assert.match(markdown, /This page shows the first 1,000 of 2,999 rows; the file has them all\./);
  assert.match(markdown, /\| name 1000 \| 1000 \|/);
  assert.doesNotMatch(markdown, /name 1001/);
  assert.match(rest ?? '', /^name 1001\t1001\n/);
  assert.deepEqual(losses, []);
});

test('an OpenDocument text keeps its headings, lists, tables, links, notes and pictures', async () => {
  const automatic =
    '<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style><text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>';
  const item = (text: string, more = '') => `<text:list-item><text:p>${text}</text:p>${more}</text:list-item>`;
  const body = [
    '<text:sequence-decls/><text:p text:style-name="Title">The guide</text:p>',
    '<text:h text:outline-level="1">One <text:span text:style-name="T1">bold</text:span></text:h>',
    '<text:p>A text<text:s text:c="1"/>with <text:a xlink:href="https://x.example/">a link</text:a>,<text:line-break/>a note<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>Its words.</text:p></text:note-body></text:note>.</text:p>',
    `<text:list text:style-name="L1">${item('first', `<text:list>${item('below')}</text:list>`)}${item('second')}</text:list>`,
    '<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell><text:p>1</text:p></table:table-cell><table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table>',
    '<text:p><draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:desc>A pipe</svg:desc></draw:frame></text:p>',
    '<text:p>Before<office:annotation><dc:creator>Ann</dc:creator><text:p>Is it so?</text:p></office:annotation> behind</text:p>',
    '<text:tracked-changes><text:changed-region><text:deletion><office:change-info><dc:creator>Ann</dc:creator></office:change-info><text:p>It was so.</text:p></text:deletion></text:changed-region></text:tracked-changes>',
  ];
  const styles =
    '<office:master-styles><style:master-page><style:header><text:p>Company</text:p></style:header></style:master-page></office:master-styles>';
  const { kind, title, markdown, pictures, losses } = await read(
    odfOf('text', body.join(''), { automatic, styles, parts: [['Pictures/a.png', PNG]] }),
    'a.odt',
  );
  assert.deepEqual([kind, title, pictures?.length], ['odt', 'The guide', 1]);
  assert.equal(
    markdown.replace(/picture_[0-9a-f]+/, 'picture'),
    '# The guide\n\n# One **bold**\n\nA text with [a link](https://x.example/),\\\na note[^1].\n\n1. first\n   - below\n2. second\n\n' +
      '| a | b |\n| - | - |\n| 1 | 2 |\n\n![A pipe](attachment:picture)\n\nBefore behind\n\n[^1]: Its words.\n',
  );
  assert.deepEqual(short(losses), ['repeated_line: Company', 'comment: Is it so?', 'tracked_change: It was so.']);
});

test('an OpenDocument spreadsheet becomes tables, and the slides of a presentation become headings', async () => {
  const cell = (text: string, attributes = '') =>
    `<table:table-cell ${attributes}>${text && `<text:p>${text}</text:p>`}</table:table-cell>`;
  const sheet =
    `<table:table table:name="Stock"><table:table-row>${cell('Part')}${cell('Length')}${cell('Unit')}</table:table-row>` +
    `<table:table-row>${cell('Pipe')}${cell('10', 'table:number-columns-repeated="2"')}${cell('', 'table:number-columns-repeated="16000"')}</table:table-row>` +
    `<table:table-row table:number-rows-repeated="1048000">${cell('', 'table:number-columns-repeated="16384"')}</table:table-row></table:table>`;
  const stock = await read(odfOf('spreadsheet', sheet), 'a.ods');
  assert.equal(stock.kind, 'ods');
  assert.equal(stock.markdown, '## Stock\n\n| Part | Length | Unit |\n| - | - | - |\n| Pipe | 10 | 10 |\n');
  const frame = (kind: string, content: string) =>
    `<draw:frame presentation:class="${kind}"><draw:text-box>${content}</draw:text-box></draw:frame>`;
  const talk = await read(
    odfOf(
      'presentation',
      `<draw:page draw:name="page1">${frame('title', '<text:p>A talk</text:p>')}${frame('outline', '<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>')}<presentation:notes>${frame('notes', '<text:p>Slowly.</text:p>')}</presentation:notes></draw:page>`,
    ),
    'a.odp',
  );
  assert.equal(talk.kind, 'odp');
  assert.equal(talk.markdown, '## A talk\n\n- one\n\n> Notes:\n>\n> Slowly.\n');
  assert.deepEqual([stock.losses, talk.losses], [[], []]);
});

test('RTF keeps its headings, marks, lists, tables, links and notes, in the encoding of its fonts', async () => {
  const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}}
{\info{\title A guide}{\author Ann}}{\header\pard Company\par}
\pard\s1 The guide\par\pard\plain A {\b bold} caf\'e9 \u8364?5, {\f1\'cf\'f0\'e8} {\field{\*\fldinst HYPERLINK "https://x.example/"}{\fldrslt a link}}{\footnote\pard Its words.} and more.\par
{\listtext\'95\tab}\ls1 one\par{\listtext\'95\tab}\ilvl1 two\par\pard{\listtext 1.\tab}\ls2 first\par\pard
\trowd\cellx100\cellx200\intbl a\cell b\cell\row\trowd\intbl 1\cell 2\cell\row\pard
{\v hidden words}{\deleted old words}{\pict\pngblip 89504e47}End\{\}.\par}`;
  const { kind, title, markdown, losses } = await read(Buffer.from(rtf, 'latin1'), 'a.rtf');
  assert.deepEqual([kind, title], ['rtf', 'A guide']);
  assert.equal(
    markdown,
    '# The guide\n\nA **bold** café €5, При [a link](https://x.example/)[^1] and more.\n\n- one\n  - two\n\n1. first\n\n' +
      '| a | b |\n| - | - |\n| 1 | 2 |\n\nEnd{}.\n\n[^1]: Its words.\n',
  );
  assert.deepEqual(short(losses), [
    'repeated_line: Company',
    'hidden_text: hidden words',
    'tracked_change: old words',
    'picture:',
  ]);
});

test('bold type does not split a surrogate pair, and nested or truncated tables keep the text of their cells', async () => {
  const rtf = String.raw`{\rtf1\ansi {\b \uc1\u-10179?\u-8704? \u1055?\u1088?\u1080?}\par\pard
\intbl outer{\nestcell}inner{\nestcell}\cell last\cell\row\intbl cut\cell off}`;
  const { markdown } = await read(Buffer.from(rtf, 'latin1'), 'a.rtf');
  assert.equal(markdown, '**😀 При**\n\n| outer<br>inner | last |\n| - | - |\n| cut | off |\n');
});

test('sheets of hundreds of thousands of rows, and paragraphs of a million spaces, are read', async () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => `<row><c><v>${i}</v></c></row>`);
  const { markdown } = await read(xlsxOf([{ name: 'Long', rows: rows.join('') }]));
  assert.match(markdown, /of 199,999 rows/);
  const run = (text: string) => `<a:r><a:t>${text}</a:t></a:r>`;
  const spaced = `<a:p>${run('\n ')}<a:br/>${run(`a${' '.repeat(1_000_000)}b`)}<a:br/>${run(' ')}</a:p>`;
  const slide = await read(pptxOf([{ shapes: shapeOf('', spaced) }]), 'a.pptx');
  assert.match(slide.markdown, /^## Slide 1\n\na\s+b\n$/);
});

test('office files that are damaged, nested too deep or too large are refused with a message', async () => {
  const refused = (bytes: Uint8Array) =>
    assert.rejects(read(bytes), (error) => error instanceof ExtractError && /upload/.test(error.message));
  await refused(odfOf('text', '<text:p>never closed'));
  await refused(Buffer.from(`{\\rtf1 ${'{'.repeat(10_000)}`));
  await refused(xlsxOf([]).subarray(0, 200));
  await refused(odfOf('text', '<text:section>'.repeat(3_000) + '</text:section>'.repeat(3_000)));
});
