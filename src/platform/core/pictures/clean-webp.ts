import { EXIF, orientationOf, tiffOf } from './exif.ts';
import { animated, ByteReader, broken, requireSize } from './picture.ts';

const HAS_ALPHA = 0x10;
const HAS_EXIF = 0x08;
const IS_ANIMATED = 0x02;

/** Returns whether the file has the signature of a WebP. */
export function isWebp(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
}

/**
 * Keeps the image, its transparency and the Exif orientation; drops other Exif data, XMP, profiles and trailing bytes.
 * Throws 400 for a broken WebP and for an animation.
 */
export function cleanWebp(bytes: Buffer): Buffer {
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw broken();
  const reader = new ByteReader(bytes.subarray(0, end), 12);
  const chunks = new Map<string, Buffer>();
  while (!reader.isAtEnd) {
    const type = reader.take(4).toString('latin1');
    const length = reader.take(4).readUInt32LE();
    const data = reader.take(length);
    // Chunks are padded to even lengths. Some writers omit the padding of the last chunk.
    if (length % 2 === 1 && !reader.isAtEnd) reader.take(1);
    if (type === 'ANIM' || type === 'ANMF') throw animated();
    if (!chunks.has(type)) chunks.set(type, data);
  }
  const extended = chunks.get('VP8X');
  const flags = extended?.[0] ?? 0;
  if ((flags & IS_ANIMATED) !== 0) throw animated();
  const lossy = chunks.get('VP8 ');
  const lossless = chunks.get('VP8L');
  if ((lossy === undefined) === (lossless === undefined)) throw broken();
  const size = lossy ? sizeOfLossy(lossy) : sizeOfLossless(lossless as Buffer);
  const alpha = extended && lossy ? chunks.get('ALPH') : undefined;
  const image: Chunk[] = [
    ...(alpha ? [['ALPH', alpha] as const] : []),
    lossy ? ['VP8 ', lossy] : ['VP8L', lossless as Buffer],
  ];
  const orientation = (flags & HAS_EXIF) !== 0 ? orientationIn(chunks.get('EXIF')) : 1;
  const isTurned = orientation !== 1;
  if (!isTurned && !alpha) return riff(image);
  const hasAlpha = alpha !== undefined || (lossless !== undefined && isTransparent(lossless));
  const head = headOf(size, (hasAlpha ? HAS_ALPHA : 0) | (isTurned ? HAS_EXIF : 0));
  return riff([['VP8X', head], ...image, ...(isTurned ? [['EXIF', tiffOf(orientation)] as const] : [])]);
}

type Chunk = readonly [type: string, data: Buffer];

/** RFC 9649, 2.7: flags for the additional chunks, and width and height minus one. */
function headOf([width, height]: Size, flags: number): Buffer {
  const head = Buffer.alloc(10);
  head[0] = flags;
  head.writeUIntLE(width - 1, 4, 3);
  head.writeUIntLE(height - 1, 7, 3);
  return head;
}

/**
 * Returns the orientation of the camera. Some writers put the prefix of a JPEG's Exif in front of the TIFF structure.
 */
function orientationIn(exif: Buffer | undefined): number {
  if (!exif) return 1;
  return orientationOf(exif.subarray(0, EXIF.length).equals(EXIF) ? exif.subarray(EXIF.length) : exif);
}

type Size = [width: number, height: number];

/** RFC 6386, 9.1: a key frame begins with its width and height. */
function sizeOfLossy(data: Buffer): Size {
  const isKeyFrame = data.length > 10 && ((data[0] ?? 1) & 1) === 0 && data.readUIntBE(3, 3) === 0x9d012a;
  if (!isKeyFrame) throw broken();
  const size: Size = [data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff];
  requireSize(...size);
  return size;
}

/** RFC 9649, 3.4: width and height minus one, 14 bits each. */
function sizeOfLossless(data: Buffer): Size {
  if (data.length < 6 || data[0] !== 0x2f) throw broken();
  const bits = data.readUInt32LE(1);
  const size: Size = [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  requireSize(...size);
  return size;
}

/** The alpha bit follows the sizes. */
function isTransparent(lossless: Buffer): boolean {
  return ((lossless.readUInt32LE(1) >>> 28) & 1) === 1;
}

function riff(chunks: readonly Chunk[]): Buffer {
  const parts = chunks.flatMap(([type, data]) => {
    const head = Buffer.alloc(8);
    head.write(type, 'latin1');
    head.writeUInt32LE(data.length, 4);
    return [head, data, Buffer.alloc(data.length % 2)];
  });
  const body = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...parts]);
  const head = Buffer.alloc(8);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}
