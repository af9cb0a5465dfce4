import { deflateSync } from 'node:zlib';

/** A line of a page: its text, its position in points from the bottom left, and its font size in points. */
export type PdfLine = readonly [text: string, x: number, y: number, size?: number];

/** An image of a PDF: its dictionary entries besides type and length, and its stream. */
export interface PdfImage {
  dictionary: string;
  stream: Uint8Array;
}

/** The position of an image on a page: its name, in points from the lower left corner. */
export type PdfPicture = readonly [name: string, x: number, y: number, width: number, height: number];

/** Builds a PDF of pages of lines, A4, in Helvetica; texts are ASCII. `pictures`: the images of each page. */
export function pdfOf(
  pages: readonly (readonly PdfLine[])[],
  pictures: readonly (readonly PdfPicture[])[] = [],
  images: Readonly<Record<string, PdfImage>> = {},
): Buffer {
  const contents = pages.map((lines, i) =>
    [
      ...lines.map(
        ([text, x, y, size = 10]) => `BT /F1 ${size} Tf ${x} ${y} Td (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`,
      ),
      ...(pictures[i] ?? []).map(
        ([name, x, y, width, height]) => `q ${width} 0 0 ${height} ${x} ${y} cm /${name} Do Q`,
      ),
    ].join('\n'),
  );
  return pdfOfContents(
    contents.map((content) => Buffer.from(content)),
    images,
  );
}

/** Builds a PDF whose pages have these content streams. Each page has the images that it names as resources. */
export function pdfOfContents(
  contents: readonly Uint8Array[],
  images: Readonly<Record<string, PdfImage>> = {},
): Buffer {
  const kids = contents.map((_, i) => `${4 + 2 * i} 0 R`).join(' ');
  const objects: (string | Buffer)[] = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${contents.length}/Kids[${kids}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  const numberOf = (image: number) => 4 + 2 * contents.length + image;
  for (const [i, content] of contents.entries()) {
    const packed = deflateSync(content);
    // A content stream may be too long for a string.
    const text = Buffer.from(content.subarray(0, 2 ** 20)).toString('latin1');
    const named = Object.keys(images).flatMap((name, k) =>
      text.includes(`/${name} Do`) ? `/${name} ${numberOf(k)} 0 R` : [],
    );
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>/XObject<<${named.join('')}>>>>/Contents ${5 + 2 * i} 0 R>>`,
      streamObject('/Filter/FlateDecode', packed),
    );
  }
  for (const { dictionary, stream } of Object.values(images)) {
    objects.push(streamObject(`/Type/XObject/Subtype/Image${dictionary}`, stream));
  }
  return pdfOfObjects(objects);
}

/**
 * Builds a PDF of these objects, numbered from 1; the first is its catalog. `trailer`: further entries of its trailer.
 */
export function pdfOfObjects(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [i, object] of objects.entries()) {
    offsets.push(length);
    const part = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]);
    parts.push(part);
    length += part.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const count = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<</Size ${count}/Root 1 0 R${trailer}>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/**
 * Builds a PDF with one page for each content stream, in Helvetica (F1) and these fonts. `entries`: further objects.
 */
export function pdfOfPages(
  contents: readonly string[],
  fonts = '',
  entries: readonly string[] = [],
  more = '',
): Buffer {
  const kids = contents.map((_, i) => `${3 + 2 * i} 0 R`).join(' ');
  return pdfOfObjects([
    `<</Type/Catalog/Pages 2 0 R${more}>>`,
    `<</Type/Pages/Count ${contents.length}/Kids[${kids}]>>`,
    ...contents.flatMap((content, i) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>${fonts}>>>>/Contents ${4 + 2 * i} 0 R${entries[i] ?? ''}>>`,
      streamObject('', Buffer.from(content, 'latin1')),
    ]),
  ]);
}

export function streamObject(dictionary: string, stream: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`<<${dictionary}/Length ${stream.length}>>\nstream\n`),
    stream,
    Buffer.from('\nendstream'),
  ]);
}

/** Builds an RGB image whose pixels a function returns. */
export function pixelImage(
  width: number,
  height: number,
  pixel: (x: number, y: number) => readonly [number, number, number],
): PdfImage {
  const pixels = Buffer.from(
    Array.from({ length: width * height }, (_, i) => pixel(i % width, Math.floor(i / width))).flat(),
  );
  return {
    dictionary: `/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode`,
    stream: deflateSync(pixels),
  };
}

/** A JPEG file embedded in a PDF as Chromium does it. */
export function jpegImage(width: number, height: number, jpeg: Buffer = greyJpeg(width, height)): PdfImage {
  return {
    dictionary: `/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode/ColorTransform 0`,
    stream: jpeg,
  };
}

/** Builds the smallest possible JPEG file of this size, all grey. `notes`: metadata, as a camera would write it. */
export function greyJpeg(width: number, height: number, notes = ''): Buffer {
  const segment = (marker: number, ...bytes: number[]) => [0xff, marker, 0, bytes.length + 2, ...bytes];
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  const components = [1, 2, 3];
  // Each table has a single code, 0, which means no difference from the previous block.
  const codes = [1, ...Array(15).fill(0), 0];
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  return Buffer.from([
    ...[0xff, 0xd8],
    ...(notes === '' ? [] : segment(0xe1, ...Buffer.from(notes))),
    ...segment(0xdb, 0, ...Array(64).fill(1)),
    ...segment(0xc0, 8, ...size, components.length, ...components.flatMap((id) => [id, 0x11, 0])),
    ...segment(0xc4, 0x00, ...codes, 0x10, ...codes),
    ...segment(0xda, components.length, ...components.flatMap((id) => [id, 0]), 0, 63, 0),
    ...Array(Math.ceil((2 * components.length * blocks) / 8)).fill(0),
    ...[0xff, 0xd9],
  ]);
}
