import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { docxOf, wordParagraph, zipOf } from '../../../../test/zip.ts';
import type { Loss } from '../losses.ts';
import { readDocument } from '../read-document.ts';
import { openZip } from '../zip/zip.ts';
import { readDocx } from './docx.ts';
import { ommlToTex } from './omml.ts';
import { parseXmlPiece } from './xml-tree.ts';

const MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"';
const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

const run = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (...runs: string[]) => `<w:p>${runs.join('')}</w:p>`;
const symbol = (text: string, style = '') => `<m:r><m:rPr>${style}</m:rPr><m:t>${text}</m:t></m:r>`;
const equation = (content: string) => `<m:oMath ${MATH}>${content}</m:oMath>`;
const part = (name: string, root: string, content: string): [string, Buffer] => [
  `word/${name}.xml`,
  Buffer.from(`<w:${root} ${WORD}>${content}</w:${root}>`),
];
/** A relationship of the document to a part, whose file name equals its kind. */
const related = (name: string) =>
  `<Relationship Id="${name}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${name}" Target="${name}.xml"/>`;

async function read(body: string, parts: [string, Buffer][] = [], relations = '') {
  const { markdown, ...document } = await readDocx(docxOf(body, relations, parts));
  return { ...document, markdown: markdown.trimEnd() };
}

async function tex(content: string): Promise<string> {
  const { markdown, losses } = await read(paragraph(equation(content)));
  assert.deepEqual(losses, [], markdown);
  assert.match(markdown, /^\$.*\$$/);
  return markdown.slice(1, -1);
}

function said(losses: readonly Loss[] = []): unknown[] {
  return losses.map(({ kind, count, characters, excerpt }) => [kind, count, characters, excerpt]);
}

test('equations of Word become TeX', async () => {
  const e = (content: string) => `<m:e>${content}</m:e>`;
  const cases: [string, string][] = [
    [`<m:f><m:num>${symbol('a+b')}</m:num><m:den>${symbol('2')}</m:den></m:f>`, '\\frac{a+b}{2}'],
    [
      `<m:f><m:fPr><m:type m:val="noBar"/></m:fPr><m:num>${symbol('n')}</m:num><m:den>${symbol('k')}</m:den></m:f>`,
      '\\genfrac{}{}{0pt}{}{n}{k}',
    ],
    [`<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>${e(symbol('x'))}</m:rad>`, '\\sqrt{x}'],
    [`<m:rad><m:deg>${symbol('3')}</m:deg>${e(symbol('x'))}</m:rad>`, '\\sqrt[3]{x}'],
    [`<m:sSup>${e(symbol('10'))}<m:sup>${symbol('6')}</m:sup></m:sSup>`, '10^{6}'],
    [`<m:sSubSup>${e(symbol('x'))}<m:sub>${symbol('i')}</m:sub><m:sup>${symbol('2')}</m:sup></m:sSubSup>`, 'x_{i}^{2}'],
    [
      `<m:nary><m:naryPr><m:chr m:val="∑"/><m:limLoc m:val="undOvr"/></m:naryPr><m:sub>${symbol('i=1')}</m:sub><m:sup>${symbol('n')}</m:sup>${e(symbol('i'))}</m:nary>`,
      '\\sum_{i=1}^{n} i',
    ],
    [
      `<m:nary><m:sub>${symbol('0')}</m:sub><m:sup>${symbol('∞')}</m:sup>${e(symbol('f'))}</m:nary>`,
      '\\int_{0}^{\\infty} f',
    ],
    [
      `<m:d>${e(`<m:m><m:mr>${e(symbol('a'))}${e(symbol('b'))}</m:mr><m:mr>${e(symbol('c'))}${e(symbol('d'))}</m:mr></m:m>`)}</m:d>`,
      '\\begin{pmatrix}a & b \\\\ c & d\\end{pmatrix}',
    ],
    [
      `<m:d><m:dPr><m:begChr m:val="{"/><m:endChr m:val=""/></m:dPr>${e(`<m:eqArr>${e(symbol('1, &amp;x'))}${e(symbol('2'))}</m:eqArr>`)}</m:d>`,
      '\\begin{cases}1, &x \\\\ 2\\end{cases}',
    ],
    [
      `<m:d><m:dPr><m:begChr m:val="|"/><m:endChr m:val="|"/></m:dPr>${e(symbol('x'))}</m:d>`,
      '\\left\\vert x\\right\\vert',
    ],
    [
      `<m:func><m:fName><m:limLow>${e(symbol('lim', '<m:sty m:val="p"/>'))}<m:lim>${symbol('x→0')}</m:lim></m:limLow></m:fName>${e(symbol('x'))}</m:func>`,
      '\\lim_{x\\to0} x',
    ],
    [`<m:func><m:fName>${symbol('sin', '<m:sty m:val="p"/>')}</m:fName>${e(symbol('θ'))}</m:func>`, '\\sin \\theta'],
    [`<m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr>${e(symbol('v'))}</m:acc>`, '\\vec{v}'],
    [`<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>${e(symbol('xy'))}</m:bar>`, '\\overline{xy}'],
    [symbol('R', '<m:scr m:val="double-struck"/>'), '\\mathbb{R}'],
    [symbol('αβΓ𝑥≤y'), '\\alpha\\beta\\Gamma x\\le y'],
    [symbol('if 5% of $', '<m:nor/>'), '\\text{if 5\\% of \\$}'],
  ];
  for (const [omml, expected] of cases) assert.equal(await tex(omml), expected);
});

test('an equation stays in its sentence, or becomes a block if it is displayed, and renders as a formula', async () => {
  const square = `<m:sSup><m:e>${symbol('c')}</m:e><m:sup>${symbol('2')}</m:sup></m:sSup>`;
  const display = `<m:oMathPara ${MATH}><m:oMathParaPr/>${equation(square)}</m:oMathPara>`;
  const { markdown } = await read(
    paragraph(run('The energy '), equation(symbol('E=m') + square), run('th is $5.')) +
      paragraph(run('So'), display, run('holds')),
  );
  assert.equal(markdown, 'The energy $E=mc^{2}$\u200bth is \\$5.\n\nSo\n\n$$\nc^{2}\n$$\n\nholds');
  assert.match(renderMarkdown(markdown).html, /<code class="language-math math-inline">E=mc\^\{2\}<\/code>/);
});

test('an equation with an unknown element is shown as its text and listed as lost', async () => {
  const { markdown, losses } = await read(
    paragraph(run('See'), equation(`<m:future>${symbol('a')}</m:future>${symbol('+b')}`)),
  );
  assert.equal(markdown, 'See a +b');
  assert.deepEqual(said(losses), [['equation', 1, 3, 'a +b']]);
});

test('superscripts and subscripts never join the number before them', async () => {
  const raised = (text: string, place: string) => run(text, `<w:vertAlign w:val="${place}script"/>`);
  const { markdown } = await read(
    paragraph(run('10'), raised('−6', 'super'), run(' H'), raised('2', 'sub'), run('O 1'), raised('st!', 'super')),
  );
  assert.equal(markdown, '10⁻⁶ H₂O 1<sup>st!</sup>');
});

test('links within a document lead to headings and paragraphs, including links made by fields', async () => {
  const mark = (name: string) => `<w:bookmarkStart w:id="0" w:name="${name}"/><w:bookmarkEnd w:id="0"/>`;
  const field = (code: string, text: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve">${code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run(text)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
  const heading = (...runs: string[]) => paragraph('<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>', ...runs);
  const { markdown } = await read(
    [
      paragraph(
        `<w:hyperlink w:anchor="_Two">${run('two')}</w:hyperlink>`,
        run(' '),
        field(' REF fig \\h ', 'the figure'),
        run(' '),
        `<w:fldSimple w:instr=" REF _Two \\h ">${run('again')}</w:fldSimple>`,
        run(' '),
        field(' HYPERLINK "https://x.example/" \\l "y" \\o "tip" ', 'web'),
        run(' '),
        `<w:hyperlink w:anchor="none">${run('gone')}</w:hyperlink>`,
      ),
      heading(run('Two')),
      heading(mark('_Two'), run('Two')),
      paragraph(mark('fig'), run('Figure '), `<w:fldSimple w:instr=" SEQ Figure ">${run('7')}</w:fldSimple>`),
    ].join(''),
  );
  assert.equal(
    markdown,
    '[two](#two-1) [the figure](#place-1) [again](#two-1) [web](https://x.example/#y) gone\n\n# Two\n\n# Two\n\n' +
      '<a id="place-1"></a>Figure 7',
  );
  const { html } = renderMarkdown(markdown);
  for (const [, id] of html.matchAll(/href="#([^"]+)"/g))
    assert.ok(html.includes(`id="${id}"`), `${id} is on the page`);
});

test('a list in a cell stays in its row, and merged cells do not shift other cells', async () => {
  const cell = (content: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${content}</w:tc>`;
  const item = (text: string) =>
    paragraph('<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>', run(text));
  const row = (...cells: string[]) => `<w:tr>${cells.join('')}</w:tr>`;
  const numbering = part(
    'numbering',
    'numbering',
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
  );
  const { markdown } = await read(
    `<w:tbl>${row(cell(paragraph(run('a'))), cell(paragraph(run('b'))), cell(paragraph(run('c'))))}${row(
      cell(paragraph(run('x')), '<w:vMerge w:val="restart"/>'),
      cell(item('one') + item('two')),
      cell(paragraph(run('p')) + paragraph(run('q'))),
    )}${row(cell(paragraph(), '<w:vMerge/>'), cell(paragraph(run('wide')), '<w:gridSpan w:val="2"/>'))}</w:tbl>`,
    [numbering],
  );
  assert.equal(markdown, '| a | b | c |\n| - | - | - |\n| x | • one<br>• two | p<br>q |\n| | wide | |');
});

test('a row that skips columns keeps its cells in the right columns, and raised or lowered numbers become scripts', async () => {
  const row = (cells: string[], properties = '') =>
    `<w:tr>${properties}${cells.map((text) => `<w:tc>${wordParagraph(text)}</w:tc>`).join('')}</w:tr>`;
  const run = (text: string, position: number) =>
    `<w:r><w:rPr><w:b w:val="0"/><w:position w:val="${position}"/></w:rPr><w:t>${text}</w:t></w:r>`;
  const { markdown } = await readDocx(
    docxOf(
      `<w:tbl>${row(['a', 'b', 'c'])}${row(['d'], '<w:trPr><w:gridBefore w:val="2"/></w:trPr>')}</w:tbl>` +
        `<w:p><w:r><w:t>10</w:t></w:r>${run('6', 6)}<w:r><w:t> H</w:t></w:r>${run('2', -4)}${run('O', -4)}${run('5', 2)}</w:p>`,
    ),
  );
  assert.equal(markdown, '| a | b | c |\n| - | - | - |\n| | | d |\n\n10⁶ H₂O5\n');
});

test('the levels that a list overrides win over its abstract list', async () => {
  const level = (no: number, format: string) =>
    `<w:lvl w:ilvl="${no}"><w:start w:val="1"/><w:numFmt w:val="${format}"/></w:lvl>`;
  const own = (no: number, format: string) => `<w:lvlOverride w:ilvl="${no}">${level(no, format)}</w:lvlOverride>`;
  const numbering = part(
    'numbering',
    'numbering',
    `<w:abstractNum w:abstractNumId="1">${level(0, 'bullet')}${level(1, 'bullet')}</w:abstractNum>` +
      `<w:abstractNum w:abstractNumId="2">${level(0, 'decimal')}</w:abstractNum>` +
      '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>' +
      // LibreOffice writes each level twice, and levels that the abstract list lacks.
      `<w:num w:numId="2"><w:abstractNumId w:val="1"/>${own(1, 'decimal')}<w:lvlOverride w:ilvl="1"/></w:num>` +
      `<w:num w:numId="3"><w:abstractNumId w:val="2"/>${own(1, 'bullet')}</w:num>`,
  );
  const item = (text: string, numId: number, no: number) =>
    paragraph(`<w:pPr><w:numPr><w:ilvl w:val="${no}"/><w:numId w:val="${numId}"/></w:numPr></w:pPr>`, run(text));
  const { markdown } = await read(
    [
      item('a', 1, 0),
      item('one', 2, 1),
      item('two', 2, 1),
      paragraph(run('-')),
      item('first', 3, 0),
      item('x', 3, 1),
    ].join(''),
    [numbering],
  );
  assert.equal(markdown, '- a\n\n  1. one\n  2. two\n\n\\-\n\n1. first\n   - x');
});

test('a picture whose file is missing is listed as lost', async () => {
  const picture =
    '<w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="Object1"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="p"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>';
  const { markdown, losses } = await read(paragraph(run('Let '), `<w:r>${picture}</w:r>`, run(' be.')).repeat(2));
  assert.equal(markdown, 'Let be.\n\nLet be.');
  assert.deepEqual(
    losses?.map(({ kind, count }) => [kind, count]),
    [['picture', 2]],
  );
});

test('lists have the levels and numbers that Word shows, wherever they are defined', async () => {
  const level = (no: number, format: string, more = '') =>
    `<w:lvl w:ilvl="${no}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}</w:lvl>`;
  const list = (no: number, more = '') =>
    `<w:num w:numId="${no}"><w:abstractNumId w:val="${Math.min(no, 3)}"/>${more}</w:num>`;
  const numbering = part(
    'numbering',
    'numbering',
    `<w:abstractNum w:abstractNumId="1">${level(0, 'decimal')}${level(1, 'lowerLetter')}${level(2, 'bullet')}</w:abstractNum>` +
      `<w:abstractNum w:abstractNumId="2">${level(0, 'decimal', '<w:pStyle w:val="Step"/>')}</w:abstractNum>` +
      `<w:abstractNum w:abstractNumId="3">${level(0, 'bullet', '<w:lvlText w:val=" "/>')}</w:abstractNum>` +
      [list(1), list(2), list(3)].join('') +
      '<w:num w:numId="4"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>',
  );
  const style = (id: string, name: string, more = '') =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
  const styles = part(
    'styles',
    'styles',
    style('Step', 'Step', '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>') +
      style('Sub', 'Sub', '<w:basedOn w:val="Step"/>') +
      style('ListParagraph', 'List Paragraph'),
  );
  const properties = (numId: number, no: number) =>
    `<w:numPr><w:ilvl w:val="${no}"/><w:numId w:val="${numId}"/></w:numPr>`;
  const item = (text: string, numId: number, no = 0, more = '') =>
    paragraph(`<w:pPr><w:pStyle w:val="ListParagraph"/>${properties(numId, no)}${more}</w:pPr>`, run(text));
  const styled = (text: string, id: string) => paragraph(`<w:pPr><w:pStyle w:val="${id}"/></w:pPr>`, run(text));
  const cell = (...content: string[]) => `<w:tc>${content.join('')}</w:tc>`;
  const { markdown } = await read(
    [
      item('one', 1),
      styled('goes on', 'ListParagraph'),
      item('two levels below', 1, 2),
      item('and one', 1, 1),
      paragraph(),
      item('two', 1),
      paragraph(run('Between.')),
      item('three', 1),
      item('without a mark', 3),
      item('seven', 4),
      // The tracked previous properties are ignored.
      item('eight', 4, 0, `<w:pPrChange><w:pPr>${properties(1, 1)}</w:pPr></w:pPrChange>`),
      styled('Step by its style', 'Step'),
      styled('Step by another', 'Sub'),
      paragraph(`<w:pPr><w:pStyle w:val="Step"/>${properties(0, 0)}</w:pPr>`, run('None.')),
      `<w:tbl><w:tr>${cell(item('Head', 9))}${cell(item('one step', 2), item('another', 2))}</w:tr></w:tbl>`,
    ].join(''),
    [numbering, styles],
    ['numbering', 'styles'].map(related).join(''),
  );
  assert.equal(
    markdown,
    [
      '1. one\n\n   goes on\n\n   - two levels below\n\n   1. and one\n\n2. two',
      'Between.',
      '3. three\n\n   without a mark',
      '7) seven\n8) eight',
      '1. Step by its style\n2. Step by another',
      'None.',
      '| Head | 3. one step<br>4. another |\n| - | - |',
    ].join('\n\n'),
  );
});

test('a numbered heading stays a heading and ends the list before it', async () => {
  const level = (format: string) => `<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="${format}"/></w:lvl>`;
  const numbering = part(
    'numbering',
    'numbering',
    `<w:abstractNum w:abstractNumId="1">${level('decimal')}</w:abstractNum>` +
      // LibreOffice defines such a list without numbers for the headings of every document.
      '<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="none"/><w:lvlText w:val=""/></w:lvl></w:abstractNum>' +
      [1, 2].map((no) => `<w:num w:numId="${no}"><w:abstractNumId w:val="${no}"/></w:num>`).join(''),
  );
  const styles = part(
    'styles',
    'styles',
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>' +
      '<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>',
  );
  const own = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>';
  const { markdown } = await read(
    paragraph(`<w:pPr><w:pStyle w:val="Heading1"/>${own}</w:pPr>`, run('Numbered')) +
      paragraph(`<w:pPr>${own}</w:pPr>`, run('an item')) +
      paragraph('<w:pPr><w:pStyle w:val="Heading2"/></w:pPr>', run('Without a number')),
    [numbering, styles],
    ['numbering', 'styles'].map(related).join(''),
  );
  assert.equal(markdown, '# Numbered\n\n2. an item\n\n## Without a number');
});

test('a document with unclosed or endlessly nested elements is refused as damaged', async () => {
  assert.equal((await read(paragraph('<w:r><w:rPr><w:i/ ></w:rPr><w:t>read</w:t></w:r>'))).markdown, '*read*');
  const depth = 40_000;
  for (const body of ['<w:p>'.repeat(depth), '<w:p>'.repeat(depth) + '</w:p>'.repeat(depth), '<w:p><w:r></w:p></w:r>'])
    await assert.rejects(read(body), /the Word document is damaged and cannot be read; save it again/);
});

test('hidden content is listed as lost: deletions, comments, hidden text, headers and footers', async () => {
  const { markdown, losses, file_characters, title } = await read(
    paragraph(
      run('Dose 10'),
      `<w:del>${'<w:r><w:delText>0 or 200</w:delText></w:r>'}</w:del>`,
      `<w:ins>${run(' mg')}</w:ins>`,
      run('secret', '<w:vanish/>'),
      run(' daily', '<w:vanish w:val="0"/>'),
    ),
    [
      part('comments', 'comments', `<w:comment w:id="1" w:author="A">${paragraph(run('Is this right?'))}</w:comment>`),
      part('header1', 'hdr', paragraph(run('Dosage'))),
      part('header2', 'hdr', paragraph(run('Draft'))),
      part('header3', 'hdr', paragraph(run('Dosage'))),
      part('header4', 'hdr', paragraph(run('Draft'))),
      part('footer1', 'ftr', paragraph(run('Page 1'))),
    ],
  );
  assert.equal(markdown, 'Dose 10 mg daily');
  assert.equal(title, 'Dosage', 'the header is the only title');
  assert.deepEqual(said(losses), [
    ['tracked_change', 1, 6, '0 or 200 '],
    ['hidden_text', 1, 6, 'secret '],
    ['repeated_line', 1, 6, 'Dosage'],
    ['repeated_line', 2, 10, 'Draft'],
    ['repeated_line', 1, 5, 'Page 1'],
    ['comment', 1, 12, 'Is this right?'],
  ]);
  assert.equal(file_characters, 'Dose10mgdaily'.length + 6 + 6 + 10 + 5 + 12 + 2 * 'Dosage'.length);
  const headed = await read(wordParagraph('Own title', 'Heading1'), [part('header1', 'hdr', paragraph(run('Dosage')))]);
  assert.equal(headed.title, 'Own title');
});

test('text in boxes, fields, smart tags, content controls, ruby and bidirectional runs is kept', async () => {
  const box = `<w:txbxContent>${paragraph(run('In a box'))}</w:txbxContent>`;
  const drawing = `<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><wps:wsp xmlns:wps="wps"><wps:txbx>${box}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;
  const alternatives = (fallback: string) =>
    `<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps">${drawing}</mc:Choice><mc:Fallback>${fallback}</mc:Fallback></mc:AlternateContent>`;
  const old = `<w:r><w:pict><v:oval xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox>${box}</v:textbox></v:oval></w:pict></w:r>`;
  const { markdown, file_characters } = await read(
    [
      paragraph(run('First'), drawing),
      paragraph(run('Second'), alternatives('')),
      paragraph(run('Third'), alternatives(old)),
      paragraph(
        `<w:smartTag w:element="x"><w:smartTag w:element="y">${run('tag ')}</w:smartTag></w:smartTag>`,
        `<w:sdt><w:sdtContent>${run('control ')}</w:sdtContent></w:sdt>`,
        `<w:dir w:val="rtl"><w:bdo w:val="rtl">${run('direction ')}</w:bdo></w:dir>`,
        `<w:r><w:ruby><w:rubyPr/><w:rt>${run('kan')}</w:rt><w:rubyBase>${run('漢')}</w:rubyBase></w:ruby></w:r>`,
        '<w:r><w:cr/></w:r>',
        run('line'),
      ),
    ].join(''),
  );
  assert.equal(
    markdown,
    'First\n\nIn a box\n\nSecond\n\nIn a box\n\nThird\n\nIn a box\n\ntag control direction 漢(kan)\\\nline',
  );
  assert.equal(file_characters, markdown.replace(/[\s()\\]/g, '').length);
});

test('paragraphs are headings if their style is based on a heading or has an outline level', async () => {
  const style = (id: string, content: string) =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${id} style"/>${content}</w:style>`;
  const styles = part(
    'styles',
    'styles',
    '<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>' +
      style('Mine', '<w:basedOn w:val="berschrift2"/>') +
      style('Outlined', '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>') +
      style('Circle', '<w:basedOn w:val="Circle"/>'),
  );
  const { markdown } = await read(
    ['berschrift2', 'Mine', 'Outlined', 'Circle'].map((id) => wordParagraph(`159. ${id}`, id)).join(''),
    [styles],
  );
  assert.equal(markdown, '## 159. berschrift2\n\n## 159. Mine\n\n### 159. Outlined\n\n159\\. Circle');
});

test('code keeps its lines, spaces and notes, whether a paragraph or character style marks it', async () => {
  const style = (id: string, name: string, base = '') =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:basedOn w:val="${base}"/></w:style>`;
  const styles = part(
    'styles',
    'styles',
    style('SourceCode', 'Source Code') +
      style('Mine', 'My code', 'SourceCode') +
      style('PreformattedText', 'Preformatted Text') +
      '<w:style w:type="character" w:styleId="VerbatimChar"><w:name w:val="Verbatim Char"/></w:style>',
  );
  const notes = part('footnotes', 'footnotes', `<w:footnote w:id="2">${paragraph(run('Why so.'))}</w:footnote>`);
  const styled = (id: string, ...runs: string[]) => paragraph(`<w:pPr><w:pStyle w:val="${id}"/></w:pPr>`, ...runs);
  const { markdown, losses } = await read(
    [
      styled('SourceCode', run('def f(x):'), '<w:r><w:br/></w:r>', run('    return x ** 2', '<w:b/>')),
      styled('Mine', run('  # 3 * 4')),
      paragraph(run('Call '), run('f(x)', '<w:rStyle w:val="VerbatimChar"/>'), run(' now.')),
      styled('PreformattedText', run('$ make'), '<w:r><w:footnoteReference w:id="2"/></w:r>'),
    ].join(''),
    [styles, notes],
    related('styles') + related('footnotes'),
  );
  assert.match(
    markdown,
    /^```\ndef f\(x\):\n {4}return x \*\* 2\n {2}# 3 \* 4\n```\n\nCall `f\(x\)` now\.\n\n```\n\$ make\n```\n\n\[\^2\]/,
  );
  const { text } = renderMarkdown(markdown);
  assert.match(text, /Why so\./);
  assert.deepEqual(losses, []);
});

test('a paragraph with numbering switched off continues the list item, unless its style is numbered', async () => {
  const parts = [
    part(
      'styles',
      'styles',
      '<w:style w:type="paragraph" w:styleId="Counted"><w:name w:val="Counted"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>',
    ),
    part(
      'numbering',
      'numbering',
      '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>',
    ),
  ];
  const of = (list: number, text: string, style = '') =>
    paragraph(
      `<w:pPr><w:pStyle w:val="${style}"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="${list}"/></w:numPr></w:pPr>`,
      run(text),
    );
  const { markdown } = await read(
    of(0, 'before') + of(1, 'one') + of(0, 'more of it') + of(1, 'two') + of(0, 'behind', 'Counted'),
    parts,
    related('styles') + related('numbering'),
  );
  assert.equal(markdown, 'before\n\n1. one\n\n   more of it\n\n2. two\n\nbehind');
});

test('code that continues a list item keeps its lines and spaces, and stays in the item', async () => {
  const parts = [
    part(
      'styles',
      'styles',
      '<w:style w:type="paragraph" w:styleId="SourceCode"><w:name w:val="Source Code"/></w:style>',
    ),
    part(
      'numbering',
      'numbering',
      '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>' +
        '<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=" "/></w:lvl></w:abstractNum>' +
        [1, 2].map((n) => `<w:num w:numId="${n}"><w:abstractNumId w:val="${n}"/></w:num>`).join(''),
    ),
  ];
  const of = (list: number, style: string, ...runs: string[]) =>
    paragraph(
      `<w:pPr><w:pStyle w:val="${style}"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="${list}"/></w:numPr></w:pPr>`,
      ...runs,
    );
  const { markdown } = await read(
    of(1, '', run('Write:')) +
      of(2, 'SourceCode', run('if (a) {'), '<w:r><w:br/></w:r>', run('    b();')) +
      of(2, 'SourceCode', run('}')) +
      of(2, '', run('Go on.')) +
      of(1, '', run('Next')),
    parts,
    related('styles') + related('numbering'),
  );
  assert.equal(markdown, '1. Write:\n\n   ```\n   if (a) {\n       b();\n   }\n   ```\n\n   Go on.\n\n2. Next');
});

test('headings by outline level, quotations by style and drop caps are recognized', async () => {
  const named = (id: string, name: string, more = '') =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
  const styles = part(
    'styles',
    'styles',
    named('1', 'heading 1') + named('11', '我的标题', '<w:basedOn w:val="1"/>') + named('Zitat', 'Quote'),
  );
  const numbering = part(
    'numbering',
    'numbering',
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>',
  );
  const own = (properties: string, text: string) => paragraph(`<w:pPr>${properties}</w:pPr>`, run(text));
  const numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>';
  const changed = '<w:pPrChange><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:pPrChange>';
  const { markdown } = await read(
    [
      own('<w:pStyle w:val="11"/>', 'Chinese'),
      own('<w:keepNext/><w:outlineLvl w:val="1"/>', 'Own'),
      own(`${numbered}<w:outlineLvl w:val="2"/>`, 'Numbered'),
      own('<w:outlineLvl w:val="9"/>', 'Body'),
      own(changed, 'Was one'),
      own('<w:pStyle w:val="Zitat"/>', 'Quoted'),
      own('<w:framePr w:dropCap="drop" w:lines="3"/>', 'O'),
      paragraph('<w:pPr><w:jc w:val="both"/></w:pPr>', run('nce'), '<w:r><w:br w:type="page"/></w:r>', run('upon')),
      paragraph(run('A'), run(' bold ', '<w:b/>'), run('word')),
    ].join(''),
    [styles, numbering],
    ['styles', 'numbering'].map(related).join(''),
  );
  assert.equal(
    markdown,
    '# Chinese\n\n## Own\n\n### Numbered\n\nBody\n\nWas one\n\n> Quoted\n\nOnce\\\nupon\n\nA **bold** word',
  );
});

test('a package whose main part has a number in its name is read as a Word document', async () => {
  const document = docxOf(wordParagraph('Numbered'));
  const numbered = zipOf(
    openZip(document).map((entry) => [
      entry.name.replace('document.xml', 'document2.xml'),
      entry.read(10_000).toString().replaceAll('word/document.xml', 'word/document2.xml'),
    ]),
  );
  const { kind, markdown } = await readDocument({ filename: 'a', content_type: '', bytes: numbered });
  assert.deepEqual([kind, markdown], ['docx', 'Numbered\n']);
});

test('a checkbox shows whether it is ticked', async () => {
  const box = (checked: number) =>
    `<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:checked w14:val="${checked}"/></w14:checkbox></w:sdtPr><w:sdtContent>${run('☒')}</w:sdtContent></w:sdt>`;
  const { markdown, losses } = await read(paragraph(box(1), run('yes ')) + paragraph(box(0), run('no')));
  assert.equal(markdown, '☑ yes\n\n☐ no');
  assert.deepEqual(losses, []);
});

test('embedded objects are listed as lost, and the text of a diagram is shown', async () => {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const graphic = (content: string) =>
    `<w:r><w:drawing><wp:inline><a:graphic><a:graphicData>${content}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;
  const drawingml = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';
  const { markdown, losses } = await read(
    paragraph(
      run('Before'),
      graphic('<dgm:relIds xmlns:dgm="d" r:dm="r8"/>'),
      graphic('<c:chart xmlns:c="c" r:id="r9"/>'),
      '<w:r><w:object><o:OLEObject xmlns:o="o" Type="Embed" ProgID="Excel.Sheet.12" r:id="r7"/></w:object></w:r>',
    ),
    [
      [
        'word/diagrams/data1.xml',
        Buffer.from(
          `<dgm:dataModel xmlns:dgm="d" ${drawingml}><dgm:pt modelId="1"><a:t>Plan</a:t></dgm:pt><dgm:pt modelId="2"/><dgm:pt modelId="3"><a:t>Build</a:t></dgm:pt></dgm:dataModel>`,
        ),
      ],
      [
        'word/charts/chart1.xml',
        Buffer.from(`<c:chart xmlns:c="c" ${drawingml}><a:t>Sales</a:t><c:ser><c:v>42</c:v></c:ser></c:chart>`),
      ],
    ],
    `<Relationship Id="r8" Type="${office}/diagramData" Target="diagrams/data1.xml"/><Relationship Id="r9" Type="${office}/chart" Target="charts/chart1.xml"/>`,
  );
  assert.equal(markdown, 'Before\n\nPlan\n\nBuild');
  assert.deepEqual(said(losses), [
    ['embedded_object', 1, 7, 'Sales 42'],
    ['embedded_object', 1, 0, 'Excel.Sheet.12'],
  ]);
});

test('deep nesting of rewritten elements neither overflows the stack nor takes quadratic time', async () => {
  const nested = (name: string, depth: number) =>
    `<w:p>${`<${name}>`.repeat(depth)}${run('x')}${`</${name}>`.repeat(depth)}</w:p>`;
  for (const name of ['w:smartTag', 'w:del', 'w:ins', 'mc:AlternateContent', 'm:oMath', 'w:txbxContent', 'w:ruby']) {
    for (const depth of [100, 450, 20_000]) {
      await read(nested(name, depth)).catch((error) => assert.match(error.message, /damaged|nested too deep/));
    }
  }
});

test('the time for a long equation is linear in its length', () => {
  const cost = (length: number) => {
    const math = parseXmlPiece(equation(symbol('x').repeat(length)));
    const before = process.cpuUsage();
    ommlToTex(math);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  cost(20_000);
  const [once, tenfold] = [cost(20_000), cost(200_000)];
  assert.ok(tenfold < 40 * once, `ten times the length takes ${Math.round(tenfold / once)} times the CPU`);
});
