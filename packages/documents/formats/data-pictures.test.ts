import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipOf } from '../../../test/zip.ts';
import { withPicturesElsewhere } from './data-pictures.ts';
import { readDocument } from './read-document.ts';

const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
const ADDRESS = `data:image/png;base64,${picture.toString('base64')}`;

test('only data addresses that show a picture are replaced, not those inside code, text and links', () => {
  const as = (written: string) => written.replaceAll('DATA', ADDRESS);
  const cases: [written: string, expected: string][] = [
    ['![a](DATA "t") ![b][r]\n\n> [r]: <DATA>', '![a](P "t") ![b][r]\n\n> [r]: <P>'],
    ["<img alt='x' src='DATA'> <a title=\"DATA\">x</a>", "<img alt='x' src='P'> <a title=\"DATA\">x</a>"],
    [
      '```\n![a](DATA)\n```\n\n    ![a](DATA)\n\n`![a](DATA)` ![a](DATA)',
      '```\n![a](DATA)\n```\n\n    ![a](DATA)\n\n`![a](DATA)` ![a](P)',
    ],
    ['[a](DATA) DATA \\![a](DATA)', '[a](DATA) DATA \\![a](DATA)'],
    ['![a](data:image/png;base64,AAAA) ![b](DATAx!)', '![a](data:image/png;base64,AAAA) ![b](DATAx!)'],
  ];
  for (const [written, expected] of cases)
    assert.equal(
      withPicturesElsewhere(as(written), () => 'P'),
      as(expected),
    );
  assert.equal(
    withPicturesElsewhere(as('![a](DATA)'), () => ''),
    as('![a](DATA)'),
    'beyond the limit',
  );
});

test('pictures in data addresses of a document become pictures like any other', async () => {
  const notebook = {
    nbformat: 4,
    cells: [
      { cell_type: 'markdown', source: `![a](${ADDRESS})` },
      {
        cell_type: 'code',
        source: '',
        outputs: [
          {
            output_type: 'display_data',
            data: { 'text/html': `<table><tr><th><img alt="h" src="${ADDRESS}"></table>` },
          },
        ],
      },
    ],
  };
  const book = zipOf([
    ['META-INF/container.xml', '<container><rootfiles><rootfile full-path="content.opf"/></rootfiles></container>'],
    [
      'content.opf',
      '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
    ],
    ['a.xhtml', `<html><body><p>Text</p><img alt="a" src="${ADDRESS}"/></body></html>`],
  ]);
  const files: [filename: string, bytes: Buffer][] = [
    ['a.ipynb', Buffer.from(JSON.stringify(notebook))],
    ['a.epub', book],
    ['a.adoc', Buffer.from(`= T\n\nimage::${ADDRESS}[a]\n`)],
    ['a.eml', Buffer.from(`Subject: S\r\nContent-Type: text/html\r\n\r\n<img alt=a src="${ADDRESS}"><p>x`)],
  ];
  for (const [filename, bytes] of files) {
    const { markdown, pictures = [], losses } = await readDocument({ filename, content_type: '', bytes });
    assert.deepEqual(
      pictures.map((each) => each.bytes),
      [picture],
      `${filename}: ${markdown}`,
    );
    const [shown] = pictures;
    assert.equal(markdown.split(`](attachment:${shown?.name})`).length, filename === 'a.ipynb' ? 3 : 2, markdown);
    assert.deepEqual(losses, [], filename);
  }
});
