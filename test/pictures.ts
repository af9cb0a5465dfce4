import { crc32, deflateSync } from 'node:zlib';

export function pngChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(type, 4, 'latin1');
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), data])));
  return Buffer.concat([head, data, sum]);
}

interface PngOptions {
  width?: number;
  height?: number;
  /** Grey level, 0 to 255. */
  grey?: number;
  /** Chunks before the image. */
  more?: readonly Buffer[];
}

/** Builds a PNG of a single grey. */
export function png({ width = 2, height = 2, grey = 128, more = [] }: PngOptions = {}): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(Math.min(width, 4_096), grey)]);
  const rows = Buffer.concat(Array.from({ length: Math.min(height, 4_096) }, () => row));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...more,
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

const fromBase64 = (text: string) => Buffer.from(text, 'base64');

/** A photo of 12 × 8 pixels without metadata. */
export const JPEG = fromBase64(
  '/9j/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYa' +
    'KCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCj/wAARCAAIAAwDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAA' +
    'AAUH/8QAGhAAAgIDAAAAAAAAAAAAAAAAAAMBIQQiMf/EABUBAQEAAAAAAAAAAAAAAAAAAAYH/8QAGhEAAQUBAAAAAAAAAAAAAAAAAAMEBhMxQf/aAAwDAQAC' +
    'EQMRAD8AyLMf2yM1+82AUuKsUas4JpK8Vt0//9k=',
);

/** The same photo as a lossy WebP. */
export const WEBP = fromBase64(
  'UklGRlIAAABXRUJQVlA4IEYAAACQAgCdASoMAAgAAUAmJbACdLoBQM38ABSlVCnGGAD++emV86Gb+l1TX/drX6Kp8MxP/J98xe/9qEppkTVmx/xXF8pOAAAA',
);

/** One transparent pixel. */
export const GIF = fromBase64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');

/** Builds a JPEG segment, to be inserted after the first two bytes of a file. */
export function jpegSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Builds an Exif segment with the camera's orientation (1 to 8) and location. */
export function exif(orientation: number, place: string): Buffer {
  const tiff = Buffer.from('49492a00080000000200120103000100000000000000258804000100000026000000' + '00000000', 'hex');
  tiff.writeUInt16LE(orientation, 18);
  return jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff, Buffer.from(place)]));
}

export function webp(chunks: readonly (readonly [type: string, data: Buffer])[]): Buffer {
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
