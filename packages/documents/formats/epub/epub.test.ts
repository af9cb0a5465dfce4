import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMarkdown } from '@ibid/markdown/render.ts';
import { zipOf } from '../../../../test/zip.ts';
import { readDocument } from '../read-document.ts';
import { openZip } from '../zip/zip.ts';
import { readEpub } from './epub.ts';

const OPS = 'xmlns:epub="http://www.idpf.org/2007/ops"';

/** Reads a book of these files. `spine` lists the chapters in reading order. */
function read(files: Record<string, string>, spine = Object.keys(files), types: Record<string, string> = {}) {
  const type = (name: string) => types[name] ?? 'application/xhtml+xml';
  const items = [...new Set([...Object.keys(files), ...spine])];
  return readEpub(
    openZip(
      zipOf([
        [
          'META-INF/container.xml',
          '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        ],
        [
          'OPS/book.opf',
          `<package><metadata><dc:title>Book</dc:title></metadata><manifest>${items
            .map((name) => `<item id="${name}" href="${name}" media-type="${type(name)}"/>`)
            .join(
              '',
            )}</manifest><spine>${spine.map((name) => `<itemref idref="${name}"/>`).join('')}</spine></package>`,
        ],
        ...Object.entries(files).map(([name, content]) => [`OPS/${name}`, content] as const),
      ]),
    ),
  );
}

const chapter = (body: string, head = '<title/>') =>
  `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" ${OPS}><head>${head}</head><body>${body}</body></html>`;

test('links and notes of a book resolve across chapters', () => {
  const { markdown } = read({
    'one.xhtml': chapter(
      '<h1>One</h1><p><a href="two.xhtml">two</a> <a href="two.xhtml#fig">figure</a> <a href="notes.xhtml#n1" epub:type="noteref">1</a> <a href="gone.xhtml">gone</a></p>',
    ),
    'two.xhtml': chapter('<h1>One</h1><p id="fig">Figure <a href="one.xhtml#top">back</a></p>'),
    'notes.xhtml': chapter('<aside id="n1" epub:type="footnote"><p>The note. <a href="one.xhtml">↩</a></p></aside>'),
  });
  assert.equal(
    markdown,
    '# One\n\n[two](#one-1) [figure](#place-1) [^1] gone\n\n# One\n\n<a id="place-1"></a>Figure back\n\n[^1]: The note.\n',
  );
  const { html } = renderMarkdown(markdown);
  for (const [, id] of html.matchAll(/href="#([^"]+)"/g))
    assert.ok(html.includes(`id="${id}"`), `${id} is on the page`);
});

test('chapters are parsed as XHTML: empty elements close themselves, and MathML may have a prefix', () => {
  const { markdown, losses } = read({
    'a.xhtml': chapter(
      '<h1>A<a id="p1"/></h1><p><a id="p2"/>Text <i/>after <m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mfrac><m:mi>a</m:mi><m:mi>b</m:mi></m:mfrac><m:mspace/></m:math></p>',
      '<title/><script src="x.js"/>',
    ),
  });
  assert.equal(markdown, '# A\n\nText after $\\frac{a}{b}\\,$\n');
  assert.deepEqual(losses, []);
});

test('spine items that are pictures, and SVGs that only wrap a picture, become pictures', () => {
  const { markdown, pictures = [] } = read(
    {
      'cover.xhtml': chapter('<svg><image xlink:href="p%20.png" width="10"/></svg>'),
      'a.xhtml': chapter('<div style="position:absolute"><p>Fixed</p></div>'),
      'p .png': 'a picture',
    },
    ['cover.xhtml', 'a.xhtml', 'p .png'],
    { 'p .png': 'image/png' },
  );
  const picture = `![](attachment:${pictures[0]?.name})`;
  assert.equal(pictures.length, 1);
  assert.equal(markdown, `${picture}\n\nFixed\n\n${picture}\n`);
});

test('chapters that cannot be read are listed as losses, and the other chapters are read', () => {
  const { markdown, losses, file_characters } = read(
    { 'a.xhtml': chapter('<p>Text</p><nav>Contents</nav>'), 'deep.xhtml': chapter(`${'<div>'.repeat(300)}deep`) },
    ['a.xhtml', 'gone.xhtml', 'deep.xhtml'],
  );
  assert.equal(markdown, 'Text\n');
  assert.deepEqual(
    losses?.map(({ kind, place, characters, excerpt }) => [kind, place, characters, excerpt.trim()]),
    [
      ['navigation', 'OPS/a.xhtml', 8, 'Contents'],
      ['damaged_part', 'OPS/gone.xhtml', 0, ''],
      ['damaged_part', 'OPS/deep.xhtml', 4, 'deep'],
    ],
  );
  assert.equal(file_characters, 12);
});

test('a damaged book is reported as damaged, wherever the damage is', async () => {
  const book = (container: string | Buffer) => zipOf([['META-INF/container.xml', container]]);
  const broken = [
    book(Buffer.from([0xf0, 0xf0, 0xf0])),
    book(Buffer.alloc(20)),
    book('<container/>'),
    book('<b>'.repeat(100_000)),
    book('a').subarray(0, 60),
    zipOf([['content.opf', '<package/>']]),
  ];
  for (const bytes of broken) {
    const reading = readDocument({ filename: 'a.epub', content_type: '', bytes });
    await assert.rejects(reading, /^Error: the (?:book|EPUB file) is damaged and cannot be read; save it again/);
  }
});

test('a chapter that the spine repeats appears once', () => {
  const files = { 'a.xhtml': chapter('<p>One.</p>'), 'b.xhtml': chapter('<p>Two.</p>') };
  const spine = Array.from({ length: 5_000 }, () => ['a.xhtml', 'b.xhtml']).flat();
  assert.equal(read(files, spine).markdown, 'One.\n\nTwo.\n');
});

test('a book may have more files than the nesting limit of elements', () => {
  const pictures = Array.from({ length: 10_000 }, (_, i) => [`p${i}.png`, ''] as const);
  const { markdown } = read({ 'a.xhtml': chapter('<p>One.</p>'), ...Object.fromEntries(pictures) }, ['a.xhtml']);
  assert.equal(markdown, 'One.\n');
});
