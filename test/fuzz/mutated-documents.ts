import { existsSync, readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { PACKAGE } from '../../src/platform/core/package/package-files.ts';
import { PNG } from '../archives.ts';
import { pdfOf } from '../pdf.ts';
import { docxOf, wordParagraph, zipOf } from '../zip.ts';
import { sometimes } from './hostile-values.ts';
import { MINUTES } from './run-cases.ts';

export interface Document {
  name: string;
  bytes: Buffer;
}

type Entries = readonly (readonly [name: string, content: string | Uint8Array])[];

const CORPORA = new URL('../shared/corpora/documents/', PACKAGE);

/** Larger real documents are left out: a case would only test their size. */
const SEED_BYTES_MAX = MINUTES > 0 ? 300_000 : 30_000;

const EPUB: Entries = [
  ['mimetype', 'application/epub+zip'],
  [
    'META-INF/container.xml',
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
  ],
  [
    'OEBPS/content.opf',
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="p" href="p.png" media-type="image/png"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
  ],
  [
    'OEBPS/a.xhtml',
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>One</h1><p>Text, <a href="b.xhtml#x">more</a>.</p></body></html>',
  ],
  [
    'OEBPS/b.xhtml',
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1 id="x">Two</h1><img src="p.png"/></body></html>',
  ],
  ['OEBPS/p.png', PNG],
];

const ARCHIVE: Entries = [
  ['guide/README.md', '# Guide\n\nSee [setup](setup.md) and ![it](a.png).\n'],
  ['guide/setup.md', '---\ntitle: Setup\n---\n\n| a | b |\n|---|---|\n| c | d |\n'],
  ['guide/a.png', PNG],
  ['data.csv', 'a,b,c\n1,"two, three",4\n5,,"6\n7"\n'],
  ['notes/ä.html', '<!doctype html><h1>Note</h1><p>Text<ul><li>one<li>two</ul>'],
  ['letter.docx', docxOf(wordParagraph('A letter', 'Heading1') + wordParagraph('Text of it'))],
];

/** A small document of every supported format, and the real documents if they are installed. */
const SEEDS: Document[] = [
  { name: 'book.epub', bytes: zipOf(EPUB) },
  { name: 'archive.zip', bytes: zipOf(ARCHIVE) },
  {
    name: 'two.pdf',
    bytes: pdfOf([
      [
        ['A title', 50, 700, 20],
        ['and a line of text below', 50, 660],
      ],
      [['The second page', 50, 700]],
    ]),
  },
  {
    name: 'letter.docx',
    bytes: docxOf(wordParagraph('A title', 'Heading1') + wordParagraph('Text & more'.replace('&', '&amp;'))),
  },
  ...ARCHIVE.filter(([name]) => /csv|html|md$/.test(name)).map(([name, content]) => ({
    name: name.split('/').at(-1) ?? name,
    bytes: Buffer.from(content),
  })),
  { name: 'example.pdf', bytes: readFileSync(new URL('docs/example.pdf', PACKAGE)) },
  ...(existsSync(CORPORA)
    ? readdirSync(CORPORA).map((name) => ({ name, bytes: readFileSync(new URL(name, CORPORA)) }))
    : []),
].filter(({ bytes }) => bytes.length <= SEED_BYTES_MAX);

const at = fc.double({ min: 0, max: 1, noNaN: true });
const NUMBERS = [0, 1, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
const SIGNATURES = [
  'PK\x01\x02',
  'PK\x03\x04',
  'PK\x05\x06',
  'stream',
  'endobj',
  'xref',
  '<w:',
  '<',
  ',',
  '/Length',
  '/Kids',
  '/Parent',
];

type Change = (bytes: Buffer) => Buffer;

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(at, fc.nat(7)).map(
      ([where, bit]): Change =>
        (bytes) =>
          edited(bytes, where, (copy, i) => copy.writeUInt8((copy[i] ?? 0) ^ (1 << bit), i)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(at, fc.nat(255)).map(
      ([where, value]): Change =>
        (bytes) =>
          edited(bytes, where, (copy, i) => copy.writeUInt8(value, i)),
    ),
  },
  // A false length, count or offset.
  {
    weight: 4,
    arbitrary: fc
      .record({
        where: at,
        signature: fc.constantFrom(...SIGNATURES),
        behind: fc.nat(46),
        value: fc.constantFrom(...NUMBERS),
        size: fc.constantFrom(2, 4),
      })
      .map(
        (it): Change =>
          (bytes) => {
            const found = bytes.indexOf(it.signature, Math.floor(it.where * bytes.length), 'latin1');
            const i = (found < 0 ? bytes.indexOf(it.signature, 0, 'latin1') : found) + it.behind;
            if (i < 0 || i + it.size > bytes.length) return bytes;
            const copy = Buffer.from(bytes);
            copy.writeUIntLE(it.value % 2 ** (8 * it.size), i, it.size);
            return copy;
          },
      ),
  },
  {
    weight: 2,
    arbitrary: at.map(
      (where): Change =>
        (bytes) =>
          bytes.subarray(0, Math.floor(where * bytes.length)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(at, fc.nat(2_000)).map(
      ([where, length]): Change =>
        (bytes) =>
          spliced(bytes, where, length, Buffer.alloc(0)),
    ),
  },
  // A part that is duplicated, moved or repeated many times.
  {
    weight: 3,
    arbitrary: fc.record({ from: at, to: at, length: fc.nat(3_000), times: fc.oneof(fc.constant(1), fc.nat(200)) }).map(
      (it): Change =>
        (bytes) => {
          const start = Math.floor(it.from * bytes.length);
          const part = bytes.subarray(start, start + it.length);
          return spliced(bytes, it.to, 0, Buffer.concat(Array.from({ length: it.times }, () => part)));
        },
    ),
  },
  // Another number in a text, as in the objects of a PDF.
  {
    weight: 3,
    arbitrary: fc.tuple(at, fc.constantFrom('0', '-1', '99999999999', '1e9', '0.0000001', '4294967296')).map(
      ([where, number]): Change =>
        (bytes) => {
          const start = Math.floor(where * bytes.length);
          const rest = bytes.toString('latin1', start).replace(/\d+/, number);
          return Buffer.concat([bytes.subarray(0, start), Buffer.from(rest, 'latin1')]);
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(at, fc.uint8Array({ maxLength: 40 })).map(
      ([where, more]): Change =>
        (bytes) =>
          spliced(bytes, where, 0, Buffer.from(more)),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        at,
        fc.constantFrom(
          '<',
          '<table><tr><td>',
          '<div>',
          '<![CDATA[',
          '&x;',
          '"',
          ',\n',
          '<w:tbl>',
          '[ ',
          '<< ',
          '(',
          '> ',
          '![[',
        ),
      )
      .map(
        ([where, text]): Change =>
          (bytes) =>
            spliced(bytes, where, 0, Buffer.from(text.repeat(MINUTES > 0 ? 3_000 : 300))),
      ),
  },
);

function edited(bytes: Buffer, where: number, edit: (copy: Buffer, i: number) => void): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) edit(copy, Math.min(copy.length - 1, Math.floor(where * copy.length)));
  return copy;
}

function spliced(bytes: Buffer, where: number, remove: number, insert: Buffer): Buffer {
  const start = Math.floor(where * bytes.length);
  return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)]);
}

function changedBy(list: readonly Change[], bytes: Buffer): Buffer {
  return list.reduce<Buffer>((result, one) => one(result), bytes);
}

const changes = fc.array(change, { minLength: 1, maxLength: 6 });

const changedFile: fc.Arbitrary<Document> = fc
  .tuple(fc.constantFrom(...SEEDS), changes)
  .map(([{ name, bytes }, list]) => ({ name, bytes: changedBy(list, bytes) }));

/** Archives with an entry that is changed, renamed or duplicated. */
const changedEntry: fc.Arbitrary<Document> = fc
  .record({
    archive: fc.constantFrom<[string, Entries]>(['entry.epub', EPUB], ['entry.zip', ARCHIVE]),
    which: fc.nat(5),
    list: changes,
    name: sometimes(
      2,
      fc.constantFrom(
        '../x.md',
        '/x.md',
        'a\\..\\x.md',
        'guide/setup.md',
        '',
        'guide/',
        `${'a/'.repeat(60)}x.md`,
        'x.zip',
        '__MACOSX/._a.md',
        'a\0.md',
      ),
    ),
    isTwice: fc.boolean(),
  })
  .map(({ archive: [file, entries], which, list, name, isTwice }) => {
    const changed = entries.map(([path, content], i): [string, string | Uint8Array] =>
      i === which % entries.length ? [name ?? path, changedBy(list, Buffer.from(content))] : [path, content],
    );
    return { name: file, bytes: zipOf(isTwice ? [...changed, ...changed] : changed) };
  });

/** One to four documents of an upload. Some have another format's name, and some are packed into an archive. */
export const mutatedDocuments: fc.Arbitrary<Document[]> = fc
  .record({
    files: fc.array(fc.oneof({ weight: 3, arbitrary: changedFile }, { weight: 1, arbitrary: changedEntry }), {
      minLength: 1,
      maxLength: 4,
    }),
    extension: sometimes(5, fc.constantFrom('pdf', 'docx', 'epub', 'zip', 'html', 'csv', 'md', 'txt', 'png')),
    isPacked: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ files, extension, isPacked }) => {
    const named = files.map(({ name, bytes }, i) => ({
      name: `${i}-${extension && i === 0 ? name.replace(/\w+$/, extension) : name}`,
      bytes,
    }));
    return isPacked
      ? [{ name: 'packed.zip', bytes: zipOf(named.map(({ name, bytes }) => [name, bytes] as const)) }]
      : named;
  });
