import { crc32, deflateRawSync } from 'node:zlib';

/** Compressed contents by identity: a ZIP bomb repeats the same content. */
const packedBefore = new WeakMap<object, { crc: number; packed: Buffer }>();

function pack(content: string | Uint8Array): { crc: number; packed: Buffer } {
  const key = typeof content === 'string' ? undefined : content;
  const known = key && packedBefore.get(key);
  if (known) return known;
  const bytes = Buffer.from(content);
  const made = { crc: crc32(bytes), packed: deflateRawSync(bytes) };
  if (key) packedBefore.set(key, made);
  return made;
}

/**
 * Builds a compressed ZIP archive of files by name. Names are written unchanged; a name given as bytes is not flagged
 * as UTF-8. `extra`: the extra field.
 */
export function zipOf(
  files: readonly (readonly [name: string | Uint8Array, content: string | Uint8Array, extra?: Uint8Array])[],
): Buffer {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, content, extra = new Uint8Array()] of files) {
    const { crc, packed } = pack(content);
    const path = Buffer.from(name);
    // Version, flags (names are UTF-8), method, time and date, checksum, both sizes, lengths of the name and of the
    // extra field.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(typeof name === 'string' ? 0x800 : 0, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(Buffer.byteLength(content), 18);
    common.writeUInt16LE(path.length, 22);
    common.writeUInt16LE(extra.length, 24);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    parts.push(Buffer.from('PK\x03\x04'), common, path, extra, packed);
    directory.push(Buffer.from('PK\x01\x02\x14\0'), common, tail, path, extra);
    offset += 30 + path.length + extra.length + packed.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
}

/** Builds a Word document with this XML in its body; `relations`: its relationships, `parts`: its other parts. */
export function docxOf(
  body: string,
  relations = '',
  parts: readonly (readonly [name: string, content: Uint8Array])[] = [],
): Buffer {
  const types = 'http://schemas.openxmlformats.org/package/2006';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return zipOf([
    [
      '[Content_Types].xml',
      `<Types xmlns="${types}/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    ],
    [
      '_rels/.rels',
      `<Relationships xmlns="${types}/relationships"><Relationship Id="r1" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
    ],
    ['word/_rels/document.xml.rels', `<Relationships xmlns="${types}/relationships">${relations}</Relationships>`],
    [
      'word/document.xml',
      `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${office}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><w:body>${body}</w:body></w:document>`,
    ],
    ...parts,
  ]);
}

export function wordParagraph(text: string, style = ''): string {
  const properties = style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t>${text}</w:t></w:r></w:p>`;
}
