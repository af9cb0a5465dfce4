import { animated, ByteReader, broken, requireSize } from './picture.ts';

export const GIF_SIGNATURE = /^GIF8[79]a$/;

const [EXTENSION, IMAGE, END, GRAPHIC_CONTROL] = [0x21, 0x2c, 0x3b, 0xf9];

/**
 * Keeps the header, the single image and its transparency; drops comments, texts, application data and trailing bytes.
 * Throws 400 for a broken GIF and for a second image.
 */
export function cleanGif(bytes: Buffer): Buffer {
  const reader = new ByteReader(bytes, 6);
  const screen = reader.take(7);
  requireSize(screen.readUInt16LE(0), screen.readUInt16LE(2));
  const kept = [Buffer.from('GIF89a', 'latin1'), screen, reader.take(paletteBytes(screen.readUInt8(4)))];
  let control: Buffer | undefined;
  let images = 0;
  for (;;) {
    const start = reader.at;
    const kind = reader.byte();
    if (kind === END) break;
    if (kind === EXTENSION) {
      const label = reader.byte();
      skipBlocks(reader);
      if (label === GRAPHIC_CONTROL && reader.at - start === 8) control = bytes.subarray(start, reader.at);
    } else if (kind === IMAGE) {
      if ((images += 1) > 1) throw animated();
      const place = reader.take(9);
      requireSize(place.readUInt16LE(0) + place.readUInt16LE(4), place.readUInt16LE(2) + place.readUInt16LE(6));
      // Local palette and minimum code size.
      reader.take(paletteBytes(place.readUInt8(8)) + 1);
      skipBlocks(reader);
      kept.push(...(control ? [control] : []), bytes.subarray(start, reader.at));
    } else throw broken();
  }
  if (images === 0) throw broken();
  return Buffer.concat([...kept, Buffer.from([END])]);
}

/** Returns the size of the palette that follows, given the flags in front of it. */
function paletteBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function skipBlocks(reader: ByteReader): void {
  for (let length = reader.byte(); length > 0; length = reader.byte()) reader.take(length);
}
