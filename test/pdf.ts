import { deflateSync } from 'node:zlib';

/** A line of a page: its text, where it stands in points from the bottom left, and how large it is. */
export type PdfLine = readonly [text: string, x: number, y: number, size?: number];

/** A PDF of pages of lines, A4, in Helvetica; texts are ASCII. */
export function pdfOf(pages: readonly (readonly PdfLine[])[]): Buffer {
  const contents = pages.map((lines) =>
    lines
      .map(([text, x, y, size = 10]) => `BT /F1 ${size} Tf ${x} ${y} Td (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`)
      .join('\n'),
  );
  return pdfOfContents(contents.map((content) => Buffer.from(content)));
}

/** A PDF whose pages have these streams of instructions. */
export function pdfOfContents(contents: readonly Uint8Array[]): Buffer {
  const kids = contents.map((_, i) => `${4 + 2 * i} 0 R`).join(' ');
  const objects: (string | Buffer)[] = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${contents.length}/Kids[${kids}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  for (const [i, content] of contents.entries()) {
    const packed = deflateSync(content);
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * i} 0 R>>`,
      Buffer.concat([
        Buffer.from(`<</Filter/FlateDecode/Length ${packed.length}>>\nstream\n`),
        packed,
        Buffer.from('\nendstream'),
      ]),
    );
  }
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
      `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<</Size ${count}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
