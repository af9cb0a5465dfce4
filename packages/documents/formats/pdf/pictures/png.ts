import { crc32, deflateSync } from 'node:zlib';

/** The pixels of a picture, row by row from the top; each row is padded to whole bytes. */
export interface Pixels {
  width: number;
  height: number;
  /** One bit (0 is black), 8 bits of grey, 24 of RGB, or 32 of RGBA. */
  bits: 1 | 8 | 24 | 32;
  data: Uint8Array;
  /** The colours of the bits 0 and 1 as #rrggbb, or "" for transparent; only with one bit per pixel. */
  colors?: readonly [string, string];
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const GREY = 0;
const PALETTE = 3;
const COLOR_TYPES = { 1: GREY, 8: GREY, 24: 2, 32: 6 };

/** The PNG filter `Up`, which compresses well because drawings repeat downwards and photos change little. */
const UP = 2;

export function writePng({ width, height, bits, data, colors }: Pixels): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = bits === 1 ? 1 : 8;
  header[9] = colors ? PALETTE : COLOR_TYPES[bits];
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...(colors
      ? [chunk('PLTE', Buffer.concat(colors.map(colorOf))), chunk('tRNS', Buffer.from(colors.map(opacityOf)))]
      : []),
    chunk('IDAT', deflateSync(filtered(data, Math.ceil((width * bits) / 8), height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function filtered(data: Uint8Array, stride: number, height: number): Uint8Array {
  const rows = new Uint8Array((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    const to = row * (stride + 1);
    const from = row * stride;
    rows[to] = UP;
    for (let i = 0; i < stride; i += 1) {
      rows[to + 1 + i] = (data[from + i] ?? 0) - (row === 0 ? 0 : (data[from - stride + i] ?? 0));
    }
  }
  return rows;
}

function colorOf(color: string): Buffer {
  return color === '' ? Buffer.alloc(3) : Buffer.from(color.slice(1), 'hex');
}

function opacityOf(color: string): number {
  return color === '' ? 0 : 255;
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
