import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cleanUp } from '../../../test/clean-up.ts';
import { longTest } from '../../../test/extent.ts';
import { pdfOf, pdfOfContents, pdfOfPages } from '../../../test/pdf.ts';
import { docxOf, wordParagraph, zipOf } from '../../../test/zip.ts';
import { PACKAGE } from '../core/package/package-files.ts';
import { canUnshare, confinedCommand } from './confined-command.ts';
import type { ReadDocument } from './document-messages.ts';
import { type DocumentReaderPool, type NamedDocument, openDocumentReader } from './document-reader.ts';

const reader = openDocumentReader();
cleanUp(() => reader.close());

const UNNAMED = { filename: '', content_type: '' };

function read(bytes: Buffer, by: DocumentReaderPool = reader, owner = 'upload'): Promise<ReadDocument> {
  const open = async () => Readable.from([bytes]);
  return by.of(owner).read({ ...UNNAMED, owner, byte_size: bytes.length, open });
}

async function refusal(bytes: Buffer, by: DocumentReaderPool = reader): Promise<string> {
  const answer = await read(bytes, by);
  assert.ok(!answer.ok, 'the document must be refused');
  return `${answer.code}: ${answer.message}`;
}

const SOUND = docxOf(wordParagraph('A sound document.'));

async function assertGoesOn(by: DocumentReaderPool = reader): Promise<void> {
  const next = await read(SOUND, by);
  assert.equal(next.ok && next.document.markdown, 'A sound document.\n', 'the next document must be read');
}

test('a process that reads documents has no access to other files, child processes, the environment or the network', async (t) => {
  let connections = 0;
  const canary = createServer(() => {
    connections += 1;
  });
  canary.listen(0, '127.0.0.1');
  await once(canary, 'listening');
  const { port } = canary.address() as AddressInfo;
  try {
    for (const network of (await canUnshare()) ? ['', 'bare'] : ['']) {
      const [command, ...args] = await confinedCommand({
        file: fileURLToPath(new URL('test/confined-probe.ts', PACKAGE)),
        folders: [fileURLToPath(new URL('src/platform/sandbox', PACKAGE))],
        memoryMb: 64,
        cpuTimeSeconds: 60,
        v8: [],
      });
      const { stdout } = await promisify(execFile)(command, [...args, String(port), network], {
        env: { PATH: process.env.PATH },
      });
      assert.deepEqual(JSON.parse(stdout), [], `what the process could do${network && ', by what the system refuses'}`);
    }
    assert.equal(connections, 0);
    t.diagnostic(`the kernel keeps it off the network: ${await canUnshare()}`);
  } finally {
    canary.close();
  }
});

test('a PDF with two columns is read in reading order, hyphenated words are joined, and every block has its page', async () => {
  const left = [
    'The first column begins here and goes on with a long sen-',
    'tence that is broken at the end of nearly every line of it,',
    'so that reading straight across gives nothing but nonsense,',
    'which is what many programs do with papers of this kind,',
    'and the column ends here without the end of its sentence',
  ];
  const right = [
    'because the second column goes on with it up to this stop.',
    'A second paragraph of the other column is not long at all,',
    'but it has enough words in it that one can see the column,',
    'and that makes its lines about as wide as those beside it,',
    'which is all that it is there for, and so it ends here.',
  ];
  const pdf = pdfOf([
    [
      ['A paper of two columns', 180, 780, 20],
      ...left.map((text, i) => [text, 50, 700 - 12 * i] as const),
      ...right.map((text, i) => [text, 320, 700 - 12 * i] as const),
      ['1', 300, 30],
    ],
    [
      ['1. A second page', 50, 780, 14],
      ['Its one paragraph.', 50, 750],
      ['2', 300, 30],
    ],
  ]);
  const answer = await read(pdf);
  assert.ok(answer.ok);
  const { markdown, block_pages } = answer.document;
  assert.match(
    markdown,
    /^# A paper of two columns\n\nThe first column begins here and goes on with a long sentence that/,
  );
  assert.match(markdown, /without the end of its sentence because the second column goes on with it up to this stop\./);
  assert.match(markdown, /## 1\. A second page\n\nIts one paragraph\.\n$/, 'page numbers are not text');
  const blocks = markdown.trim().split('\n\n');
  assert.equal(block_pages?.length, blocks.length);
  assert.deepEqual(
    block_pages?.map(({ first_page }) => first_page),
    blocks.map((_, i) => (i < blocks.length - 2 ? 1 : 2)),
  );
});

test('a confined process knows the predefined encodings of Japanese fonts', async () => {
  const font =
    '/F2<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/90ms-RKSJ-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>>>]>>';
  const answer = await read(pdfOfPages(['BT /F2 12 Tf 50 700 Td <93fa967b8cea> Tj ET'], font));
  assert.equal(answer.ok && answer.document.markdown, '日本語\n');
});

test('a PDF with several damaged pages is read without them, and the losses name them', async () => {
  const pages = ['The first', 'The second', 'The third', 'The last'].map((text) => [[text, 50, 700]] as const);
  const whole = pdfOf(pages).toString('latin1');
  const without = (...objects: number[]) =>
    Buffer.from(
      objects.reduce((text, number) => text.replace(`\n${number} 0 obj`, `\n${number} 0 xxx`), whole),
      'latin1',
    );
  const answer = await read(without(8, 10));
  assert.ok(answer.ok, JSON.stringify(answer));
  assert.equal(answer.document.markdown, 'The first\n\nThe second\n');
  assert.deepEqual(
    answer.document.losses?.map(({ kind, first_page, place }) => [kind, first_page, place]),
    [
      ['page_unreadable', 3, ''],
      ['damaged_part', 3, 'following pages, if any'],
    ],
  );
  assert.match(await refusal(without(4, 8)), /^unreadable: the PDF is damaged/);
});

test('tables and lists of a PDF become Markdown tables and lists', async () => {
  const rows = [
    ['Name', 'Size', 'Colour'],
    ['Apple', '3', 'red'],
    ['Pear', '4', 'green'],
  ];
  const pdf = pdfOf([
    [
      ...rows.flatMap((row, i) => row.map((cell, k) => [cell, 50 + 120 * k, 700 - 14 * i] as const)),
      ['- one thing', 50, 600],
      ['- another thing', 50, 586],
    ],
  ]);
  const answer = await read(pdf);
  assert.ok(answer.ok);
  assert.match(answer.document.markdown, /\| Name \| Size \| Colour \|\n[|\s-]+\n\| Apple \| 3 \| red \|/);
  assert.match(answer.document.markdown, /- one thing\n- another thing\n$/);
});

test('a Word document keeps headings, tables, links and footnotes', async () => {
  const cell = (text: string) => `<w:tc>${wordParagraph(text)}</w:tc>`;
  const answer = await read(
    docxOf(
      `${wordParagraph('Title', 'Heading1')}<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr><w:tr>${cell('1')}${cell('2')}</w:tr></w:tbl><w:p><w:hyperlink r:id="l1"><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>`,
      '<Relationship Id="l1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="https://example.com/" TargetMode="External"/>',
    ),
  );
  assert.ok(answer.ok);
  assert.equal(
    answer.document.markdown,
    '# Title\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n[link](https://example.com/)\n',
  );
});

test('an EPUB book yields its chapters in reading order, with its title and pictures', async () => {
  const picture = Buffer.from('not really a picture');
  const book = (more: readonly (readonly [string, string | Buffer])[] = []) =>
    zipOf([
      ['mimetype', 'application/epub+zip'],
      ['META-INF/container.xml', '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'],
      [
        'OPS/book.opf',
        `<package><metadata><dc:title>The Book</dc:title><dc:language>en</dc:language></metadata><manifest>
        <item id="two" href="text/two.xhtml"/><item id="one" href="text/one%20.xhtml"/></manifest>
        <spine><itemref idref="one"/><itemref idref="two"/><itemref idref="gone"/></spine></package>`,
      ],
      [
        'OPS/text/one .xhtml',
        '<html><body><h1>One</h1><p>See <a href="two.xhtml">the next</a>.</p><img src="../p.png"/><img src="../../../etc/passwd"/></body></html>',
      ],
      ['OPS/text/two.xhtml', '<html><body><h1>Two</h1><table><tr><td>a</td><td>b</td></tr></table></body></html>'],
      ['OPS/p.png', picture],
      ...more,
    ]);
  const answer = await read(book());
  assert.ok(answer.ok);
  const { markdown, title, language, pictures = [] } = answer.document;
  assert.deepEqual([title, language, pictures.map(({ bytes }) => Buffer.from(bytes))], ['The Book', 'en', [picture]]);
  assert.equal(
    markdown,
    `# One\n\nSee [the next](#two).\n\n![](attachment:${pictures[0]?.name})\n\n# Two\n\n| a | b |\n| - | - |\n`,
  );
  assert.match(await refusal(book([['META-INF/rights.xml', '<rights/>']])), /^unreadable: the book is copy-protected/);
  assert.match(await refusal(zipOf([['META-INF/container.xml', '<x/>']])), /^unreadable: the book is damaged/);
});

test('files and addresses that a document refers to are never fetched', async () => {
  let connections = 0;
  const canary = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  canary.listen(0, '127.0.0.1');
  await once(canary, 'listening');
  const { port } = canary.address() as AddressInfo;
  const picture = (id: string) =>
    `<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:link="${id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
  const relation = (id: string, target: string) =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="${target}" TargetMode="External"/>`;
  try {
    const answer = await read(
      docxOf(
        `${wordParagraph('before')}${picture('i1')}${picture('i2')}`,
        relation('i1', `http://127.0.0.1:${port}/x.png`) + relation('i2', 'file:///etc/passwd'),
      ),
    );
    assert.ok(answer.ok);
    assert.deepEqual([answer.document.markdown, answer.document.pictures], ['before\n', []]);
    const entity = `<!DOCTYPE w:document [<!ENTITY x SYSTEM "http://127.0.0.1:${port}/">]>`;
    await refusal(zipOf([['word/document.xml', `${entity}<w:document>&x;</w:document>`]]));
    assert.equal(connections, 0, 'no connection may be made');
  } finally {
    canary.close();
  }
});

const PAGES_LOOP = Buffer.from(
  '%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Count 1000000/Kids[2 0 R 2 0 R]>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF',
);

longTest('a document that is damaged or unpacks to too much is refused, and the next document is read', async () => {
  const zeros = Buffer.alloc(300 * 2 ** 20);
  const bombs: [name: string, bytes: Buffer, reason: RegExp][] = [
    ['a Word document of 300 MiB', zipOf([['word/document.xml', zeros]]), /^too_large: .*split it/],
    ['a PDF with a page of 300 MiB', pdfOfContents([zeros]), /^(?:empty_file|unreadable): /],
    ['half an archive', SOUND.subarray(0, SOUND.length / 2), /^unreadable: the archive is damaged/],
    ['half a PDF', Buffer.from('%PDF-1.7\n1 0 obj\n<</Type'), /^unreadable: the PDF is damaged/],
    ['a PDF whose pages hold themselves', PAGES_LOOP, /^(?:empty_file|unreadable|too_large): /],
    ['an Excel workbook of 300 MiB', zipOf([['xl/workbook.xml', zeros]]), /^too_large: .*split it/],
    ['an Excel workbook of nothing', zipOf([['xl/workbook.xml', '']]), /^unreadable: the file is damaged/],
    [
      'an OpenDocument text of nothing',
      zipOf([
        ['mimetype', 'application/vnd.oasis.opendocument.text'],
        ['content.xml', ''],
      ]),
      /^unreadable: the file is damaged/,
    ],
    ['a presentation of nothing', zipOf([['ppt/presentation.xml', '']]), /^unreadable: the file is damaged/],
    ['an RTF text of open groups', Buffer.from(`{\\rtf1 ${'{'.repeat(1_000_000)}`), /^unreadable: .* nested too deep/],
    ['a Pages document', zipOf([['Index/Document.iwa', 'x']]), /^unsupported_type: .* export it as Word or PDF/],
    ['a Word document of nothing', zipOf([['word/document.xml', '']]), /^unreadable: the Word document is damaged/],
  ];
  for (const [name, bytes, reason] of bombs) {
    assert.match(await refusal(bytes), reason, name);
    await assertGoesOn();
  }
});

longTest('a document that exceeds a limit of time, memory or output fails alone', async () => {
  const slow = pdfOf(Array.from({ length: 400 }, (_, i) => [[`Page ${i} has its own text.`, 50, 700] as const]));
  const limits: [options: object, reason: RegExp, bytes: Buffer][] = [
    [{ cpuTimeLimitMs: 30 }, /too long to read/, slow],
    [{ memoryMb: 64 }, /too much memory/, docxOf(wordParagraph('many words').repeat(300_000))],
    [{ maxOutputBytes: 1_000 }, /too large for a page/, docxOf(wordParagraph('many words '.repeat(1_000)))],
  ];
  for (const [options, reason, bytes] of limits) {
    const bounded = openDocumentReader({ processes: 1, ...options });
    try {
      assert.match(await refusal(bytes, bounded), reason);
    } finally {
      await bounded.close();
    }
  }
});

longTest("if a document's bytes cannot be read, the caller gets the error and the next document is read", async () => {
  const whole = pdfOf([[['A sound page.', 50, 700]]]);
  const one = openDocumentReader({ processes: 1 });
  try {
    const broken = async function* () {
      yield whole.subarray(0, 100);
      throw new Error('the store is away');
    };
    const open = async (bytes: Iterable<Buffer> | AsyncIterable<Buffer>) => Readable.from(bytes);
    const document = { ...UNNAMED, owner: 'upload', byte_size: whole.length };
    const unpack = (document: NamedDocument) => one.of('').unpack(document, async () => undefined);
    for (const ask of [one.of('').read, unpack]) {
      await assert.rejects(ask({ ...document, open: () => open(broken()) }), /the store is away/);
      await assertGoesOn(one);
      await assert.rejects(ask({ ...document, open: () => open([whole.subarray(0, 100)]) }), { code: 'ENOENT' });
      await assertGoesOn(one);
      await assert.rejects(ask({ ...document, open: () => Promise.reject(new Error('it is away')) }), /it is away/);
      await assertGoesOn(one);
    }
  } finally {
    await one.close();
  }
});

longTest(
  'if the caller fails to store unpacked files, it gets the error, and the rest of the archive is not read as the next response',
  async () => {
    const bytes = zipOf(Array.from({ length: 500 }, (_, i) => [`${i}.md`, `# ${i}\n${'x'.repeat(10_000)}\n`] as const));
    const one = openDocumentReader({ processes: 1 });
    try {
      const archive = { owner: 'upload', byte_size: bytes.length, open: async () => Readable.from([bytes]) };
      const full = () => Promise.reject(new Error('the disk is full'));
      await assert.rejects(one.of('').unpack(archive, full), /the disk is full/);
      await assertGoesOn(one);
      const names: string[] = [];
      const all = await one.of('').unpack(archive, async (files) => void names.push(...files.map(({ name }) => name)));
      assert.deepEqual(
        [all, names.length, names.at(-1)],
        [{ is: 'archive', left_out: { hidden: 0, symbolic_links: 0, names: [] } }, 500, '499.md'],
      );
    } finally {
      await one.close();
    }
  },
);

longTest(
  'an upload of many documents delays another upload by only a few documents, and its documents share a process',
  async () => {
    const one = openDocumentReader({ processes: 1 });
    try {
      const order: string[] = [];
      const noted = async (owner: string) => {
        await read(SOUND, one, owner);
        order.push(owner);
      };
      await Promise.all([...Array.from({ length: 12 }, () => 'many'), 'single', 'single'].map(noted));
      assert.deepEqual(order.slice(order.indexOf('single'), order.indexOf('single') + 2), ['single', 'single']);
      assert.ok(order.indexOf('single') < 9, order.join(' '));
    } finally {
      await one.close();
    }
  },
);

test('documents of different uploads never share a process, and a closed reader refuses', async () => {
  const one = openDocumentReader({ processes: 1 });
  const answers = await Promise.all(['a', 'b', 'a', 'b'].map((owner) => read(SOUND, one, owner)));
  assert.ok(answers.every(({ ok }) => ok));
  const running = assert.rejects(read(pdfOf([[['x', 1, 1]]]), one), { code: 'overloaded' });
  await one.close();
  await running;
  await assert.rejects(read(SOUND, one), { code: 'overloaded' });
});
