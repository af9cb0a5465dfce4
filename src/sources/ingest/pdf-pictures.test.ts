import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { deflateSync, inflateSync } from 'node:zlib';
import type { ExtractedDocument } from '@ibid/documents/formats/extracted.ts';
import { cleanUp } from '../../../test/clean-up.ts';
import { longTest } from '../../../test/extent.ts';
import {
  greyJpeg,
  jpegImage,
  type PdfImage,
  type PdfPicture,
  pdfOf,
  pdfOfContents,
  pixelImage,
} from '../../../test/pdf.ts';
import { openDocumentReader } from '../../platform/sandbox/document-reader.ts';

const reader = openDocumentReader();
cleanUp(() => reader.close());

const COLORS = pixelImage(120, 90, (x, y) => [2 * x, 2 * y, 100]);
const PHOTO = jpegImage(120, 90);

async function read(bytes: Buffer, by = reader): Promise<ExtractedDocument> {
  const answer = await by.of('').read({
    owner: 'upload',
    filename: '',
    content_type: '',
    byte_size: bytes.length,
    open: async () => Readable.from([bytes]),
  });
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.document;
}

/** Changes the declared size of a JPEG, so that it no longer matches its data. */
function sizedOtherwise(jpeg: Buffer, size: number): Buffer {
  const changed = Buffer.from(jpeg);
  const frame = changed.indexOf(Buffer.from([0xff, 0xc0])) + 5;
  changed.writeUInt16BE(size, frame);
  changed.writeUInt16BE(size, frame + 2);
  return changed;
}

function shown({ markdown, pictures = [] }: ExtractedDocument): string {
  return pictures.reduce((text, { name }, i) => text.replaceAll(`attachment:${name}`, `picture ${i + 1}`), markdown);
}

/** Formats picture losses, for example `ornament small 1-2: 3`. */
function pictureLosses({ losses = [] }: ExtractedDocument): string[] {
  const ofPictures = losses.filter(({ kind }) => kind === 'picture' || kind === 'ornament');
  return ofPictures.map(
    ({ kind, place, first_page, last_page, count }) => `${kind} ${place} ${first_page}-${last_page}: ${count}`,
  );
}

/** Reads the size, color type and pixels of a PNG whose rows use the Up filter. */
function readPng(png: Uint8Array) {
  const file = Buffer.from(png);
  assert.equal(file.toString('latin1', 1, 4), 'PNG');
  const [width, height, bits, colors] = [file.readUInt32BE(16), file.readUInt32BE(20), file[24] ?? 0, file[25] ?? 0];
  const data: Buffer[] = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  }
  const rows = inflateSync(Buffer.concat(data));
  const stride = Math.ceil((width * bits * ({ 0: 1, 2: 3, 3: 1, 6: 4 }[colors] ?? 0)) / 8);
  const pixels = Buffer.alloc(stride * height);
  for (let i = 0; i < pixels.length; i += 1) {
    const row = Math.floor(i / stride);
    pixels[i] = (rows[row * (stride + 1) + 1 + (i % stride)] ?? 0) + (row === 0 ? 0 : (pixels[i - stride] ?? 0));
  }
  return { width, height, bits, colors, stride, pixels };
}

test('pictures of a PDF appear between the blocks as on its pages, and do not change the text', async () => {
  const lines = [
    [
      ['A report', 50, 780, 20],
      ['The text above the first picture.', 50, 740],
      ['Figure 1: all the colours.', 50, 540],
      ['And the text goes on here.', 50, 500],
    ],
    [
      ['Another page with its text.', 50, 780],
      ['What stands at its end.', 50, 740],
    ],
  ] as const;
  const pictures: PdfPicture[][] = [[['Colors', 50, 560, 200, 150]], [['Photo', 50, 500, 200, 150]]];
  const document = await read(pdfOf(lines, pictures, { Colors: COLORS, Photo: PHOTO }));
  assert.equal(
    shown(document),
    '# A report\n\nThe text above the first picture.\n\n![](picture 1)\\\nFigure 1: all the colours.\n\nAnd the text goes on here.\n\n' +
      'Another page with its text.\n\nWhat stands at its end.\n\n![](picture 2)\n',
  );
  assert.deepEqual(
    document.block_pages?.map(({ first_page, last_page }) => [first_page, last_page]),
    [1, 1, 1, 1, 2, 2, 2].map((page) => [page, page]),
  );
  const [colors, photo] = document.pictures ?? [];
  const { width, height, pixels } = readPng(colors?.bytes ?? Buffer.alloc(0));
  assert.deepEqual([width, height], [120, 90]);
  assert.ok(pixels.equals(inflateSync(COLORS.stream)), 'its pixels equal the pixels in the PDF');
  assert.deepEqual(Buffer.from(photo?.bytes ?? []), PHOTO.stream, 'a JPEG is stored unchanged');
  const plain = await read(pdfOf(lines));
  assert.equal(plain.markdown, document.markdown.replace(/!\[\].*\n\n?/g, '').replace(/\n*$/, '\n'));
});

test('a picture within a column or between list items appears there', async () => {
  const column = (x: number) =>
    Array.from(
      { length: 12 },
      (_, i) => [`Some words of column ${x} that are all but the same, ${i}`, x, 700 - 12 * i] as const,
    );
  const columns = pdfOf(
    [[...column(50), ...column(320), ['Below the picture.', 50, 400]]],
    [[['Photo', 50, 420, 200, 130]]],
    { Photo: PHOTO },
  );
  const [, left = '', right = ''] = /^([\s\S]*)!\[\][\s\S]*?\n([\s\S]*)$/.exec(shown(await read(columns))) ?? [];
  assert.match(left, /column 50/);
  assert.doesNotMatch(left, /column 320/);
  assert.match(right, /^\nBelow the picture\.\n\nSome words of column 320/);
  const steps = pdfOf(
    [
      [
        ['1. Open the box.', 50, 700],
        ['2. Close it again.', 50, 500],
      ],
    ],
    [[['Photo', 50, 520, 200, 150]]],
    { Photo: PHOTO },
  );
  assert.equal(shown(await read(steps)), '1. Open the box.\n\n![](picture 1)\n\n2. Close it again.\n');
});

test('a rotated or flipped picture appears as on its page', async () => {
  const matrices = { down: '200 0 0 -150 50 700', mirrored: '-200 0 0 150 250 550', left: '0 200 -150 0 250 500' };
  const original = (x: number, y: number) => [2 * x, 2 * y, 100];
  const expected: Record<string, (x: number, y: number) => number[]> = {
    down: (x, y) => original(x, 89 - y),
    mirrored: (x, y) => original(119 - x, y),
    left: (x, y) => original(119 - y, x),
  };
  for (const [name, matrix] of Object.entries(matrices)) {
    const content = `BT /F1 10 Tf 50 800 Td (Text.) Tj ET q ${matrix} cm /Colors Do Q`;
    const { pictures = [] } = await read(pdfOfContents([Buffer.from(content)], { Colors: COLORS }));
    const { width, height, pixels } = readPng(pictures[0]?.bytes ?? Buffer.alloc(0));
    const wanted = Array.from(
      { length: width * height },
      (_, i) => expected[name]?.(i % width, Math.floor(i / width)) ?? [],
    );
    assert.deepEqual([width, height], name === 'left' ? [90, 120] : [120, 90], name);
    assert.ok(pixels.equals(Buffer.from(wanted.flat())), name);
  }
});

test('image masks, half-transparent pictures and 1-bit pictures are extracted', async () => {
  const bits = Buffer.from(Array.from({ length: 14 * 112 }, (_, i) => (i % 2 === 0 ? 0x0f : 0xa5)));
  const grey = Buffer.alloc(112 * 112, 200);
  const images: Record<string, PdfImage> = {
    Mask: { dictionary: '/Width 112/Height 112/ImageMask true/BitsPerComponent 1', stream: bits },
    Bits: { dictionary: '/Width 112/Height 112/ColorSpace/DeviceGray/BitsPerComponent 1', stream: bits },
    Grey: { dictionary: '/Width 112/Height 112/ColorSpace/DeviceGray/BitsPerComponent 8', stream: grey },
    Clear: { ...COLORS, dictionary: `${COLORS.dictionary}/SMask 9 0 R` },
    Faint: {
      dictionary: '/Width 120/Height 90/ColorSpace/DeviceGray/BitsPerComponent 8',
      stream: Buffer.alloc(120 * 90, 128),
    },
  };
  // Object numbers of the PDF: 4 and 5 are the page, the images follow, and 10 is the last image.
  images.Clear = { ...COLORS, dictionary: `${COLORS.dictionary}/SMask 10 0 R` };
  const paint = (name: string, y: number) => `q 60 0 0 60 50 ${y} cm /${name} Do Q`;
  const content = `BT /F1 10 Tf 50 800 Td (Text.) Tj ET 1 0 0 rg ${paint('Mask', 700)} ${paint('Bits', 600)} ${paint('Grey', 500)} ${paint('Clear', 400)}`;
  const { pictures = [] } = await read(pdfOfContents([Buffer.from(content)], images));
  const [mask, bit, gray, clear] = pictures.map(({ bytes }) => readPng(bytes));
  assert.deepEqual([mask?.colors, mask?.bits, mask?.pixels], [3, 1, bits]);
  assert.ok(
    Buffer.from(pictures[0]?.bytes ?? []).includes(Buffer.from([0x50, 0x4c, 0x54, 0x45, 255, 0, 0])),
    'it is red',
  );
  assert.deepEqual([bit?.colors, bit?.bits, bit?.pixels], [0, 1, bits]);
  assert.deepEqual([gray?.colors, gray?.bits, gray?.pixels], [0, 8, grey]);
  assert.deepEqual([clear?.colors, clear?.pixels[3], clear?.pixels.length], [6, 128, 120 * 90 * 4]);
});

test('ornaments, text backgrounds, parts of drawings and repeated pictures are omitted and listed as losses', async () => {
  const images = { Photo: PHOTO, Colors: COLORS, Tiny: pixelImage(16, 16, () => [1, 2, 3]) };
  const text = Array.from(
    { length: 30 },
    (_, i) => [`A line of text that is number ${i} of its page.`, 50, 700 - 12 * i] as const,
  );
  const nothing: [listed: string, pages: number, pictures: PdfPicture[]][] = [
    ['ornament small 1-1: 1', 1, [['Tiny', 50, 100, 200, 200]]],
    ['ornament small 1-1: 1', 1, [['Photo', 50, 100, 20, 20]]],
    ['ornament outside of the page 1-1: 1', 1, [['Photo', 700, 100, 200, 200]]],
    ['ornament behind text 1-1: 1', 1, [['Photo', 0, 0, 595, 842]]],
    [
      'picture part of a drawing 1-1: 60',
      1,
      Array.from({ length: 60 }, (_, i) => [i % 2 ? 'Photo' : 'Colors', 50 + 8 * i, 50, 60, 60]),
    ],
    ['ornament on many pages 1-4: 4', 4, [['Photo', 450, 750, 90, 60]]],
  ];
  for (const [listed, pages, pictures] of nothing) {
    const document = await read(
      pdfOf(
        Array.from({ length: pages }, () => text),
        Array.from({ length: pages }, () => pictures),
        images,
      ),
    );
    assert.deepEqual([document.pictures?.length, document.markdown.includes('![')], [0, false], listed);
    assert.deepEqual(pictureLosses(document), [listed]);
  }
  const scan = await read(pdfOf([text, []], [[], [['Photo', 0, 0, 595, 842]]], images));
  assert.match(shown(scan), /!\[\]\(picture 1\)\n$/, 'a page that contains only a picture shows it');
});

test('a picture that is corrupt or too large is omitted and listed, and the text stays', async () => {
  const zeros = (width: number, height: number): PdfImage => ({
    ...pixelImage(0, 0, () => [0, 0, 0]),
    dictionary: `/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode`,
  });
  const size = [0, 0, 0, 99, 0, 0, 0, 99];
  const nothing = Array(8).fill(0);
  const jpeg2000 = Buffer.from([
    0xff,
    0x4f,
    0xff,
    0x51,
    0,
    41,
    0,
    0,
    ...size,
    ...nothing,
    ...size,
    ...nothing,
    0,
    1,
    7,
    1,
    1,
  ]);
  const bombs: Record<string, PdfImage> = {
    'of 400 million pixels': zeros(20_000, 20_000),
    'of no size': { dictionary: '/ColorSpace/DeviceRGB/BitsPerComponent 8', stream: Buffer.alloc(10) },
    'of a size below nothing': zeros(-5, -5),
    'of an unknown format': {
      dictionary: '/Width 99/Height 99/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/XDecode',
      stream: Buffer.alloc(10),
    },
    'whose JPEG ends early': { ...PHOTO, stream: greyJpeg(120, 90).subarray(0, 40) },
    'of JPEG 2000': { dictionary: '/Width 99/Height 99/Filter/JPXDecode', stream: jpeg2000 },
    'of JBIG2': {
      dictionary: '/Width 99/Height 99/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/JBIG2Decode',
      stream: Buffer.alloc(100),
    },
  };
  for (const [name, bomb] of Object.entries(bombs)) {
    const document = await read(
      pdfOf(
        [
          [
            ['Above them.', 50, 800],
            ['Below them.', 50, 50],
          ],
        ],
        [
          [
            ['Bomb', 50, 500, 200, 200],
            ['Photo', 50, 200, 200, 200],
          ],
        ],
        { Bomb: bomb, Photo: PHOTO },
      ),
    );
    assert.match(document.markdown, /^Above them\.\n\n[\s\S]*Below them\.\n$/, name);
    assert.ok(
      document.pictures?.some(({ bytes }) => PHOTO.stream.length === bytes.length),
      `the picture next to one ${name} is shown`,
    );
    assert.equal(pictureLosses(document).length, 1, `one ${name} is listed: ${pictureLosses(document)}`);
  }
});

longTest('a document whose pictures exceed the limits of the process keeps its text', async () => {
  const dictionary = (size: number) =>
    `/Width ${size}/Height ${size}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode`;
  const white = deflateSync(Buffer.alloc(3 * 3_000 * 3_000, 255));
  const names = Array.from({ length: 12 }, (_, i) => `White${i}`);
  const images = {
    ...Object.fromEntries(names.map((name) => [name, { dictionary: dictionary(3_000), stream: white }])),
    Noise: { dictionary: dictionary(300), stream: deflateSync(randomBytes(3 * 300 * 300)) },
    Lying: jpegImage(120, 90, sizedOtherwise(greyJpeg(120, 90), 60_000)),
  };
  const pdf = (shown: string[]) =>
    pdfOf(
      [[['The text.', 50, 800]]],
      [shown.map((name, i) => [name, 50 + (i % 6) * 80, 50 + Math.floor(i / 6) * 80, 70, 70] as const)],
      images,
    );
  const bounds: [bounds: object, pictures: string[]][] = [
    [{ memoryMb: 64 }, names],
    [{ maxOutputBytes: 100_000 }, ['Noise']],
    [{}, ['Lying']],
  ];
  for (const [options, shown] of bounds) {
    const bounded = openDocumentReader({ processes: 1, ...options });
    try {
      const document = await read(pdf(shown), bounded);
      const { markdown, pictures } = document;
      assert.deepEqual([markdown, pictures?.length], ['The text.\n', 0], JSON.stringify(options));
      assert.equal(pictureLosses(document).length, 1, JSON.stringify(options));
    } finally {
      await bounded.close();
    }
  }
});

test('photo metadata, such as location and orientation, is removed', async () => {
  const photo = jpegImage(120, 90, greyJpeg(120, 90, 'Exif: 52.5 N 13.4 E'));
  const { pictures = [] } = await read(
    pdfOf([[['Text.', 50, 800]]], [[['Photo', 50, 500, 200, 150]]], { Photo: photo }),
  );
  assert.deepEqual(Buffer.from(pictures[0]?.bytes ?? []), greyJpeg(120, 90));
});
