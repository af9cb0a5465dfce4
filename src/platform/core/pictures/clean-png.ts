import { crc32 } from 'node:zlib';
import { animated, ByteReader, broken, requireSize } from './picture.ts';

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Bit depths that each type of colour may have (PNG, 11.2.1). */
const DEPTHS: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** Chunks that a picture is drawn from, with the lengths that they may have. */
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
 * The chunks that draw the picture, and nothing else: no texts, times, Exif or profiles, and nothing behind the end. Errors:
 * 400 for a chunk that is broken, for a critical one that is not known, and for an animation.
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
    // A type that begins with a capital is one that the picture cannot be drawn without.
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
