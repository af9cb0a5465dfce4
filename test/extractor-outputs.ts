import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compileOrSplit } from '@ibid/documents/compile-file.ts';
import type { ExtractedDocument, UploadedFile } from '@ibid/documents/formats/extracted.ts';
import { isDocument } from '@ibid/documents/formats/file-type.ts';
import { readDocument } from '@ibid/documents/formats/read-document.ts';
import { NO_NAMES } from '@ibid/documents/links/title-names.ts';
import { FORM_VERSION } from '@ibid/markdown/blocks/block-form.ts';
import { loadNeeded } from '@ibid/markdown/on-demand/load-needed.ts';
import { odfOf, pptxOf, shapeOf, xlsxOf } from './office.ts';
import { outlookOf } from './outlook.ts';
import { type PdfLine, pdfOf, pdfOfContents, pdfOfPages, pixelImage } from './pdf.ts';
import { docxOf, wordParagraph, zipOf } from './zip.ts';

const VERSIONS = new URL('packages/documents/extractor-versions.json', PACKAGE);

/** A picture in a data URL, as programs write small ones. */
const DATA_PICTURE = `data:image/png;base64,${Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]).toString('base64')}`;

/** A page of Logseq. */
const GRAPH = `title:: Graph
tags:: [[a]], b

- First [[Page]]
  id:: 64906131-f9a2-46c5-bb5f-eddf3043817b
  collapsed:: true
\t- see ((64906131-f9a2-46c5-bb5f-eddf3043817b))
- id:: 64906131-f9a2-46c5-bb5f-eddf3043817c
  > quoted
`;

const MARKDOWN = `---
title: Guide
---
# The *guide*

A paragraph with **bold**, \`code\`, [a link](b.md), H<sub>2</sub>O and ~~struck~~ text[^1],
on two lines.\\
And a third.

- one
  - below
- [x] done

1. first
2. second

> quoted
> twice

## Named {#name}

=== "Tab"

    In it {/* not shown */}

> [!NOTE]
> An alert with ==a mark==, %%a comment%% and a #tag ^block

:::tip
A box
:::

{{% note %}}
Another
{{% /note %}}

!!! warning
    Another

| a | b |
| - | - |
| 1 |   |

    indented
      code

    :::tip
    !!! note
        %%in code%%

\`\`\`js
const a = 1;

a();
\`\`\`

\`\`\`haskell
main = putStrLn "x"
\`\`\`

Term :tada:
: Definition

![alone](a.png "Caption")

مرحبا

$$x^2$$ and $y$, [[Wiki link]], ![a picture](a.png)beside, ![another](${DATA_PICTURE})

<details><summary>More</summary>Hidden</details>

[^1]: A note.

![A talk](talk.mp3) and <video src="film.mp4" controls></video>
`;

const HTML = `<!doctype html><html lang="en"><head><title>Shop</title></head><body><nav>Menu</nav><main>
<h1>Shop</h1><p>Text <b>bold<br></b>x<sup>2</sup> &amp; more<br>line</p><ul><li>one<li>two<ol><li>three</ol></ul>
<table><tr><th>a<th>b<tr><td>1<td>2</table><pre>code
  here</pre><dl><dt>Term<dd>Meaning<sup>Q</sup> of it</dl>A<sub>Q</sub>loose<blockquote><p>Quote</p></blockquote><figure><img alt="it" src="a.png">
<figcaption>Caption</figcaption></figure><img alt="own" src="${DATA_PICTURE}"></main><aside>Beside</aside><footer>Foot</footer></body></html>`;

const XHTML = (body: string) => `<html xmlns="http://www.w3.org/1999/xhtml"><body>${body}</body></html>`;

const EPUB = zipOf([
  ['mimetype', 'application/epub+zip'],
  [
    'META-INF/container.xml',
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
  ],
  [
    'content.opf',
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
  ],
  [
    'a.xhtml',
    XHTML(
      '<h1>One</h1><p>Text, <a href="b.xhtml#x">more</a>, 10<sup>6</sup>.</p><ul><li>item</li></ul><p>Noted<a href="#n" rel="footnote">1</a></p><aside id="n">A note.</aside>',
    ),
  ],
  [
    'b.xhtml',
    XHTML(
      '<h1 id="x">Two</h1><table><tr><td>1</td><td>2</td></tr></table><pre>a\n  b</pre><dl><dt>Term</dt><dd>Meaning<sup>Q</sup> of it</dd></dl><hr/><b><p>b</p></b><p>Noted<a id="r" href="#f">1</a></p><p><a id="f" href="#r">1</a> Another.</p>',
    ),
  ],
]);

/** Three rows of two cells; only ruled lines distinguish the table from words. */
const RULED_PDF = pdfOfContents([
  Buffer.from(
    [0, 1, 2]
      .map((row) => {
        const text = (x: number, word: string) => `BT /F1 10 Tf ${x} ${685 - 20 * row} Td (${word}) Tj ET`;
        return `50 ${680 - 20 * row} 40 20 re 90 ${680 - 20 * row} 40 20 re S ${text(72, `a${row}`)} ${text(94, `b${row}`)}`;
      })
      .join(' '),
  ),
]);

const PDF = pdfOf([
  [
    ['A title', 50, 760, 20],
    ['A paragraph of two lines that is', 50, 720],
    ['set in ten points.', 50, 708],
    ['Part', 50, 660],
    ['Length', 150, 660],
    ['Pipe', 50, 646],
    ['10', 150, 646],
    ['Lid', 50, 632],
    ['12', 150, 632],
    ['1', 290, 30],
  ],
  [
    ['A second heading', 50, 760, 16],
    ['- an item', 50, 720],
    ['- another item', 50, 706],
    ['3. numbered below it', 70, 692],
    ['7. with another number', 70, 678],
    ['2', 290, 30],
  ],
]);

/** A table whose header row is repeated on the next page. */
const LONG_TABLE_PDF = pdfOf(
  [
    [120, '10'],
    [780, '12'],
  ].map(([y, length]) =>
    [
      ['Part', 'Length'],
      ['Pipe', length],
      ['Lid', '7'],
    ].flatMap((row, i) => row.map((cell, k) => [String(cell), 60 + 150 * k, Number(y) - 14 * i] as const)),
  ),
);

/** Prose, and a loop in monospaced type that continues on the next page. */
const CODE_PDF = pdfOfPages(
  ['(while i < 3 {) Tj 12 -12 Td (print i;) Tj', '1 0 0 1 92 790 Tm (i += step;) Tj -12 -12 Td (}) Tj'].map(
    (code) =>
      `BT /F1 10 Tf 12 TL 50 700 Td (A line of ordinary words that are no code at all.) Tj (Another such line.) ' ET BT /F2 10 Tf 80 100 Td ${code} ET`,
  ),
  '/F2<</Type/Font/Subtype/Type1/BaseFont/Courier>>',
);

/** A footnote, and a picture with its caption. */
const NOTE_PDF = pdfOfContents(
  [
    Buffer.from(
      `BT 50 700 Td /F1 10 Tf (A text of a line that has a note) Tj 4 Ts /F1 6 Tf (1) Tj 0 Ts ET BT 50 100 Td 3 Ts /F1 5 Tf (1) Tj 0 Ts /F1 8 Tf ( Its note.) Tj ET q 100 0 0 80 50 300 cm /A Do Q BT 50 285 Td /F1 10 Tf (Figure 1: colours) Tj ET`,
    ),
  ],
  { A: pixelImage(120, 90, (x, y) => [x, y, 0]) },
);

/** A table without ruled lines: with an empty cell, a cell of two lines, and a row on the next page. */
const ALIGNED_PDF = pdfOf([
  [
    ...['Name', 'Size', 'Meaning'].map((text, k) => [text, 50 + 120 * k, 120] as const),
    ...['salt', 'two grains that'].map((text, k) => [text, 50 + 240 * k, 100] as const),
    ['are white', 290, 88],
    ...['pepper', '7', 'black'].map((text, k) => [text, 50 + 120 * k, 68] as const),
  ],
  [20, 40, 60].flatMap((y) => ['ginger', `${y}`, 'brown'].map((text, k) => [text, 50 + 120 * k, 800 - y] as const)),
]);

/** A list with drawn bullets, and a table whose cells are no further apart than words. */
const DRAWN_PDF = pdfOfContents([
  Buffer.from(
    [
      ...['north', 'south'].map((text, i) => `BT /F1 10 Tf 80 ${740 - 14 * i} Td (${text}) Tj ET`),
      '70 741 4 4 re f 70 727 4 4 re f',
      ...['Region', 'North and west', 'South'].flatMap((text, i) => [
        `BT /F1 10 Tf 50 ${680 - 14 * i} Td (${text}) Tj ET`,
        `BT /F1 10 Tf 121 ${680 - 14 * i} Td (${39 + i}) Tj ET`,
        `BT /F1 10 Tf 141 ${680 - 14 * i} Td (${86 - i}) Tj ET`,
      ]),
    ].join('\n'),
  ),
]);

/** A numbered list that is interrupted by a paragraph within a level, and code that continues its last item. */
const WORD_LIST = docxOf(
  [
    [1, 'one'],
    [3, 'below'],
    [0, 'between'],
    [1, 'two'],
    [9, 'more of two'],
  ]
    .map(([level = 0, text]) => {
      const list = level === 9 ? [0, 0] : [Number(level) - 1, 1];
      const numbered = `<w:pPr><w:numPr><w:ilvl w:val="${list[0]}"/><w:numId w:val="${list[1]}"/></w:numPr></w:pPr>`;
      return `<w:p>${level === 0 ? '' : numbered}<w:r><w:t>${text}</w:t></w:r></w:p>`;
    })
    .concat(
      '<w:p><w:pPr><w:pStyle w:val="Heading2"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>A numbered part</w:t></w:r></w:p>',
    )
    .concat(
      '<w:p><w:pPr><w:pStyle w:val="SourceCode"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr></w:pPr><w:r><w:t>if (a)  b();</w:t></w:r></w:p>',
    )
    .join(''),
  '<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/><Relationship Id="n" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/>',
  [
    [
      'word/numbering.xml',
      Buffer.from(
        `<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:abstractNum w:abstractNumId="1">${[0, 2].map((level) => `<w:lvl w:ilvl="${level}"><w:numFmt w:val="decimal"/></w:lvl>`).join('')}</w:abstractNum><w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:lvlText w:val=" "/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="2"><w:lvl w:ilvl="2"><w:numFmt w:val="bullet"/></w:lvl></w:lvlOverride></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num></w:numbering>`,
      ),
    ],
    [
      'word/styles.xml',
      Buffer.from(
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="SourceCode"><w:name w:val="Source Code"/></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/></w:style></w:styles>',
      ),
    ],
  ],
);

const NOTEBOOK = {
  nbformat: 4,
  metadata: { language_info: { name: 'python' } },
  cells: [
    { cell_type: 'markdown', source: ['# Analysis\n', 'Of $x^2$.'] },
    {
      cell_type: 'code',
      source: 'f(1)',
      outputs: [
        { output_type: 'stream', text: '\u001b[31mred\u001b[0m\n' },
        {
          output_type: 'execute_result',
          data: {
            'text/html':
              '<p>n<a href="#n" rel="footnote">1</a></p><p id="n">A note.</p><table><tr><th>a<tr><td>1</table><dl><dt>t<dd>m<sup>Q</sup></dl><hr><b><p>b</p></b>',
            'text/plain': 'a\n1',
          },
        },
        { output_type: 'error', ename: 'Error', evalue: 'no', traceback: [] },
      ],
    },
  ],
};

const MESSAGE = `From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>
To: b@example.com
Subject: A message
Date: Mon, 1 Jan 2024 10:00:00 +0100
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>Gr=FC=DFe<a href=3D"#n" rel=3Dfootnote>1</a></p><p id=3Dn>A note.</p><ul><li>one</ul><dl><dt>Term<dd>Meaning<sup>Q</sup></dl><hr><b><p>b</p></b>
--x
Content-Type: message/rfc822

Subject: Inner

Inner text,
of two lines.
--x--
`;

const ASCIIDOC = `= Guide

A *word*, H~2~O, xref:b.adoc#c[more].footnote:[A note.]

== Part

NOTE: Careful.

[source,js]
----
const a = 1;
----

|===
|a |b

|1 |2
|===

* one
** two

term:: meaning^Q^ of it

latexmath:[x^2]

Beside image:a.png[a picture]it.

import a from "b"
`;

import { PACKAGE } from '../src/platform/core/package/package-files.ts';

/** Code marked by the style of a paragraph and of a word. */
const WORD_CODE = docxOf(
  `${wordParagraph('if (a)  b();', 'SourceCode')}<w:p><w:r><w:rPr><w:rStyle w:val="VerbatimChar"/></w:rPr><w:t>b()</w:t></w:r></w:p>`,
  '<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>',
  [
    [
      'word/styles.xml',
      Buffer.from(
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="SourceCode"><w:name w:val="Source Code"/></w:style><w:style w:type="character" w:styleId="VerbatimChar"><w:name w:val="Verbatim Char"/></w:style></w:styles>',
      ),
    ],
  ],
);

/** Footnotes as mdBook and LibreOffice write them, and a table nested in a layout table. */
const NOTES =
  '<p>Noted<a id="r" href="#f">1</a></p><div><p><a id="f" href="#r">1</a> Another note.</p></div><p>Text<sup class="footnote-reference"><a href="#n">1</a></sup></p><table><tr><td><table><tr><td>a<td>b<tr><td>1<td>2</table></table><ol><li id="n">A note.</ol>';

const FIGURE =
  '<figure><img src="a.png" alt="A map"><figcaption aria-hidden="true">A <em>map</em></figcaption></figure>';

/** Block elements inside inline ones, code in a cell and at the target of a link, and a list in a definition list. */
const WRAPPED =
  '<b><p>one</p><p>two</p></b><p>See<table><tr><th>a<th>b<tr><td><pre>c\nd</pre><td><a href="#e">e</a></table><p><tt id="e">e</tt><dl><dt>A<dt>B<dd><ul><li>C</ul></dl>';

/** Page of a Confluence export. */
const CONFLUENCE =
  '<html><head><title>SP : Home</title></head><body class="theme-default"><div id="page"><div id="main"><div id="main-header"><div id="breadcrumb-section"><ol id="breadcrumbs"><li><a href="index.html">SP</a></li></ol></div><h1 id="title-heading"><span id="title-text">SP : Home</span></h1></div><div id="content"><div class="page-metadata">Created by A</div><div id="main-content" class="wiki-content"><p>Text</p></div></div></div></div></body></html>';

const GOOGLE_DOCS =
  '<html><head><style>.c1{font-weight:700}</style></head><body class="doc-content"><p class="title"><span>Plan</span></p><ul class="lst-kix_a-0"><li><span class="c1">one</span></li></ul><ul class="lst-kix_a-1"><li>two</li></ul><p><a href="https://www.google.com/url?q=https://example.com/">x</a></p></body></html>';

const XHTML_PAGE = '<?xml version="1.0"?><html><body><b><a id="a"/>b<i/></b><p>c</p></body></html>';

/** A line of text that MDX would read as an import and hide, if it were written to Markdown unescaped. */
const STATEMENT = "import a from 'b'";

/** A header of two rows, as close as lines of one row and written cell by cell. */
const HEADS_PDF = pdfOf([
  [
    ['Region', 50, 714],
    ['Sold abroad', 250, 720],
    ['Kept', 400, 720],
    ['Growth', 200, 708],
    ['Volume', 300, 708],
    ['Share', 400, 708],
    ...['North', 'South', 'West'].flatMap((name, i): PdfLine[] =>
      [name, '11.5', '120', '7.1'].map((text, k): PdfLine => [text, [50, 215, 320, 405][k] ?? 0, 690 - 20 * i]),
    ),
  ],
]);

const ODF_TABLE =
  '<table:table table:name="Stock"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row></table:table>';

const ODF_TEXT = `<text:h text:outline-level="1">A title</text:h><text:p>Text<text:note><text:note-body><text:p>A note.</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>${ODF_TABLE}`;

const RTF = String.raw`{\rtf1\ansi\ansicpg1252{\stylesheet{\s1 heading 1;}}\pard\s1 A title\par\pard {\b bold} caf\'e9{\footnote A note.}\par{\listtext -\tab}one\par\pard\trowd\intbl a\cell b\cell\row\trowd\intbl 1\cell 2\cell\row}`;

/** Small documents of each kind, with constructs that extractors easily misread. */
const SAMPLES: Record<string, readonly (readonly [filename: string, bytes: Buffer])[]> = {
  markdown: [
    ['guide.md', Buffer.from(MARKDOWN)],
    ['graph.md', Buffer.from(GRAPH)],
  ],
  text: [
    [
      'notes.txt',
      Buffer.from(`Notes\n=====\n\nA line\nand another.\n\n  indented\n\n* item\n* item\n\n${STATEMENT}\n`),
    ],
  ],
  html: [
    ['shop.html', Buffer.from(HTML)],
    ['figure.html', Buffer.from(FIGURE)],
    ['notes.html', Buffer.from(NOTES)],
    ['wrapped.html', Buffer.from(WRAPPED)],
    ['page.html', Buffer.from(XHTML_PAGE)],
    ['rules.html', Buffer.from(`<hr><p>${STATEMENT}</p><hr>`)],
    ['Home_1.html', Buffer.from(CONFLUENCE)],
    ['google.html', Buffer.from(GOOGLE_DOCS)],
  ],
  csv: [
    ['data.csv', Buffer.from('a,b,c\n1,"two, three",4\n5,,"6\n7"\n8,%%9%%,\n')],
    ['excel.csv', Buffer.from('sep=;\na;b\n1;2\n')],
  ],
  pdf: [
    ['two.pdf', PDF],
    ['ruled.pdf', RULED_PDF],
    ['long-table.pdf', LONG_TABLE_PDF],
    ['aligned.pdf', ALIGNED_PDF],
    ['drawn.pdf', DRAWN_PDF],
    ['note.pdf', NOTE_PDF],
    ['code.pdf', CODE_PDF],
    ['statement.pdf', pdfOf([[[STATEMENT, 50, 700]]])],
    ['heads.pdf', HEADS_PDF],
    ['example.pdf', readFileSync(new URL('docs/example.pdf', PACKAGE))],
  ],
  docx: [
    [
      'letter.docx',
      docxOf(
        `${wordParagraph('A title', 'Heading1')}${wordParagraph('Text of it')}<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>A part</w:t></w:r></w:p><w:p><w:r><w:t>x</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r></w:p><w:tbl><w:tr><w:tc>${wordParagraph('1')}</w:tc><w:tc>${wordParagraph('2')}</w:tc></w:tr></w:tbl>`,
      ),
    ],
    ['list.docx', WORD_LIST],
    ['code.docx', WORD_CODE],
    [
      'statement.docx',
      docxOf(
        `${wordParagraph(STATEMENT)}<w:p><w:r><w:t>H</w:t></w:r><w:r><w:rPr><w:position w:val="-6"/></w:rPr><w:t>2</w:t></w:r></w:p>`,
      ),
    ],
  ],
  epub: [['book.epub', EPUB]],
  ipynb: [['analysis.ipynb', Buffer.from(JSON.stringify(NOTEBOOK))]],
  eml: [['message.eml', Buffer.from(MESSAGE.replaceAll('\n', '\r\n'))]],
  asciidoc: [['guide.adoc', Buffer.from(ASCIIDOC)]],
  pptx: [
    [
      'talk.pptx',
      pptxOf([{ shapes: `${shapeOf('title', 'A talk')}${shapeOf('body', 'one', 'two')}`, notes: 'Slowly.' }]),
    ],
  ],
  xlsx: [
    [
      'stock.xlsx',
      xlsxOf(
        [{ name: 'Stock', rows: `<row><c t="str"><v>Since</v></c></row><row><c s="0"><v>45000.5</v></c></row>` }],
        {
          styles: '<styleSheet><cellXfs><xf numFmtId="22"/></cellXfs></styleSheet>',
        },
      ),
    ],
  ],
  odt: [['letter.odt', odfOf('text', ODF_TEXT)]],
  ods: [['stock.ods', odfOf('spreadsheet', ODF_TABLE)]],
  odp: [
    [
      'talk.odp',
      odfOf(
        'presentation',
        `<draw:page><draw:frame><draw:text-box>${ODF_TEXT}</draw:text-box></draw:frame></draw:page>`,
      ),
    ],
  ],
  rtf: [['letter.rtf', Buffer.from(RTF)]],
  msg: [['message.msg', outlookOf({ texts: { '0037': 'Hello', '0C1A': 'Ann', '1000': 'A text.' } })]],
};

/**
 * Returns the SHA-256 of everything extracted from the documents of a kind: texts, positions and forms of blocks, and
 * rendered pages.
 */
async function outputOf(samples: (typeof SAMPLES)[string]): Promise<string> {
  const hash = createHash('sha256');
  for (const [filename, bytes] of samples) {
    const isText = !isDocument({ filename, content_type: '', bytes });
    const input = {
      wiki_id: '',
      page_path: 'page',
      filename,
      content_type: '',
      bytes: isText ? bytes : Buffer.alloc(0),
    };
    const document: { document?: ExtractedDocument } = isText
      ? {}
      : { document: await wholeDocument({ filename, content_type: '', bytes }) };
    await loadNeeded(document.document?.markdown ?? input.bytes);
    const read = compileOrSplit({ ...input, ...document }, new Map(), () => undefined, NO_NAMES);
    if ('parts' in read) throw new Error(`${filename} must be one page`);
    hash.update(JSON.stringify([FORM_VERSION, read.source_text, read.citations, read.title, read.html]));
  }
  return hash.digest('hex');
}

/** Returns the text of extractor-versions.json: each known version, incremented if the output has changed. */
export async function extractorVersions(): Promise<string> {
  const known: Record<string, { version: number; output: string }> = JSON.parse(readFileSync(VERSIONS, 'utf8'));
  const versions: typeof known = {};
  for (const [kind, samples] of Object.entries(SAMPLES)) {
    const output = await outputOf(samples);
    const { version = 0, output: before } = known[kind] ?? {};
    versions[kind] = { version: before === output ? version : version + 1, output };
  }
  return `${JSON.stringify(versions, null, 2)}\n`;
}

async function wholeDocument(file: UploadedFile): Promise<ExtractedDocument> {
  const document = await readDocument(file);
  return (await document.readMore?.()) ?? document;
}
