import { crc32 } from 'node:zlib';
import { animated, ByteReader, broken, requireSize } from './picture.ts';

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Bit depths allowed for each colour type (PNG, 11.2.1). */
const DEPTHS: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Chunks needed to draw a picture, with the allowed lengths. */
const KEPT: Record<string, (length: number) => boolean> = {
  IHDR: (length) => length === 13,
  PLTE: (length) => length > 0 && length <= 768 && length % 3 === 0,
  tRNS: (length) => length <= 256,
  gAMA: (length) => length === 4,
  cHRM: (length) => length === 32,
  sRGB: (length) => length === 1,
  IDAT: () => true,
  IEND: (length) => length === 0,
};

/**
 * Keeps only the chunks that draw the picture; drops texts, times, Exif, profiles and trailing bytes. Throws 400 for a
 * broken chunk, an unknown critical chunk and an animation.
 */
export function cleanPng(bytes: Buffer): Buffer {
  const reader = new ByteReader(bytes, PNG_SIGNATURE.length);
  const kept: Buffer[] = [PNG_SIGNATURE];
  const seen = new Set<string>();
  while (!seen.has('IEND')) {
    const start = reader.at;
    const length = reader.take(4).readUInt32BE();
    const typeBytes = reader.take(4);
    const type = typeBytes.toString('latin1');
    const data = reader.take(length);
    if (reader.take(4).readUInt32BE() !== crc32(data, crc32(typeBytes))) throw broken();
    if (type === 'acTL') throw animated();
    const fits = Object.hasOwn(KEPT, type) ? KEPT[type] : undefined;
    // An upper-case first letter marks a critical chunk: a decoder cannot ignore it.
    if (!fits && /^[A-Z]/.test(type)) throw broken();
    if ((seen.size === 0) !== (type === 'IHDR')) throw broken();
    if (type === 'IHDR') checkHeader(data);
    if (!fits) continue;
    if (!fits(length) || (seen.has(type) && type !== 'IDAT')) throw broken();
    seen.add(type);
    kept.push(bytes.subarray(start, reader.at));
  }
  if (!seen.has('IDAT')) throw broken();
  return Buffer.concat(kept);
}

function checkHeader(data: Buffer): void {
  if (data.length !== 13) throw broken();
  requireSize(data.readUInt32BE(0), data.readUInt32BE(4));
  const [depth = 0, colour = -1, compression, filter, interlace = 2] = data.subarray(8);
  if (!DEPTHS[colour]?.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) throw broken();
}
