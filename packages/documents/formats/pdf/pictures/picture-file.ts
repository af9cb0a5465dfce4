import { ImageKind } from 'unpdf/pdfjs';
import type { DecodedImage, Painted } from './paint-operators.ts';
import { type Pixels, writePng } from './png.ts';

/** Returns the JPEG file of a picture if the PDF contains one. */
export type JpegOf = (image: DecodedImage) => Buffer | undefined;

const OPAQUE = 255;

/**
 * Writes a picture as a file, as seen on a page rotated by `rotation` degrees clockwise: the original JPEG if it looks
 * the same, else a PNG.
 */
export function pictureFile(image: DecodedImage, { matrix, color }: Painted, rotation: number, jpegOf: JpegOf): Buffer {
  const turn = turnOf(matrix, rotation);
  const jpeg = turn.isUpright && image.kind === ImageKind.RGB_24BPP ? jpegOf(image) : undefined;
  return jpeg ?? writePng(turned(pixelsOf(image, color), turn));
}

function pixelsOf({ width, height, kind, data }: DecodedImage, color: string): Pixels {
  if (kind === undefined) return { width, height, bits: 1, data, colors: [color, ''] };
  if (kind === ImageKind.GRAYSCALE_1BPP) return { width, height, bits: 1, data };
  const from = kind === ImageKind.RGBA_32BPP ? 4 : 3;
  let isOpaque = true;
  let isGrey = true;
  for (let i = 0; i < data.length; i += from) {
    isOpaque &&= from === 3 || data[i + 3] === OPAQUE;
    isGrey &&= data[i] === data[i + 1] && data[i] === data[i + 2];
    if (!isOpaque && !isGrey) break;
  }
  if (!isOpaque) return { width, height, bits: 32, data };
  const to = isGrey ? 1 : 3;
  if (from === to) return { width, height, bits: 24, data };
  const fewer = new Uint8Array(width * height * to);
  for (let i = 0, k = 0; k < fewer.length; i += from) {
    for (let byte = 0; byte < to; byte += 1) fewer[k++] = data[i + byte] ?? 0;
  }
  return { width, height, bits: isGrey ? 8 : 24, data: fewer };
}

/** The orientation of a picture: `isAcross` swaps rows and columns, then the flips apply. */
interface Turn {
  isAcross: boolean;
  isLeftward: boolean;
  isUpward: boolean;
  isUpright: boolean;
}

function turnOf([a, b, c, d]: Painted['matrix'], rotation: number): Turn {
  const quarters = ((Math.round(rotation / 90) % 4) + 4) % 4;
  let [right, up]: [x: number, y: number][] = [
    [a, b],
    [c, d],
  ] as [[number, number], [number, number]];
  for (let i = 0; i < quarters; i += 1) {
    right = [right[1], -right[0]];
    up = [up[1], -up[0]];
  }
  const isAcross = Math.abs(right[0]) < Math.abs(right[1]);
  const isLeftward = (isAcross ? up[0] : right[0]) < 0;
  const isUpward = (isAcross ? right[1] : up[1]) < 0;
  return { isAcross, isLeftward, isUpward, isUpright: !isAcross && !isLeftward && !isUpward };
}

function turned(pixels: Pixels, { isAcross, isLeftward, isUpward, isUpright }: Turn): Pixels {
  if (isUpright) return pixels;
  const { width, height, bits, data, colors } = expandBits(pixels);
  const size = bits / 8;
  const [wide, high] = isAcross ? [height, width] : [width, height];
  const result = new Uint8Array(data.length);
  let to = 0;
  for (let y = 0; y < high; y += 1) {
    for (let x = 0; x < wide; x += 1) {
      const alongX = isLeftward ? wide - 1 - x : x;
      const alongY = isUpward ? high - 1 - y : y;
      // With swapped axes, right is up in the picture, and down is left.
      const from = isAcross ? (height - 1 - alongX) * width + (width - 1 - alongY) : alongY * width + alongX;
      for (let byte = 0; byte < size; byte += 1) result[to++] = data[from * size + byte] ?? 0;
    }
  }
  return { width: wide, height: high, bits, data: result, ...(colors && { colors }) };
}

function expandBits(pixels: Pixels): Pixels {
  const { width, height, data, colors = ['#000000', '#ffffff'] } = pixels;
  if (pixels.bits !== 1) return pixels;
  const stride = Math.ceil(width / 8);
  const bytes = new Uint8Array(width * height);
  for (let i = 0; i < bytes.length; i += 1) {
    const x = i % width;
    bytes[i] = ((data[((i / width) | 0) * stride + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1;
  }
  return { width, height, bits: 8, data: bytes, colors };
}
