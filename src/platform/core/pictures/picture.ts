import { ApiError } from '../errors.ts';

/** A picture as stored and served, reduced to the data needed to draw it. */
export interface Picture {
  content_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  bytes: Buffer;
}

/** Maximum bytes of an uploaded picture. */
export const PICTURE_BYTES = 2 ** 20;

/** Maximum width and height in pixels. A list of members makes the browser decode a hundred of these pictures. */
const PICTURE_SIDE = 1_024;

/** Throws 400 `invalid_request` if a side is zero or too long. */
export function requireSize(width: number, height: number): void {
  if (width > 0 && height > 0 && width <= PICTURE_SIDE && height <= PICTURE_SIDE) return;
  throw new ApiError(
    'invalid_request',
    `The picture has ${width} × ${height} pixels, but may have at most ${PICTURE_SIDE} on each side. Make it smaller and send it again.`,
  );
}

export function broken(): ApiError {
  return new ApiError(
    'invalid_request',
    'The picture is broken or of an unsupported kind. Save it again as PNG or JPEG, and send that.',
  );
}

export function animated(): ApiError {
  return new ApiError('invalid_request', 'The picture is animated. Send a single frame instead.');
}

/** Reads bytes sequentially. Throws 400 if the data ends too early. */
export class ByteReader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  take(length: number): Buffer {
    if (this.at + length > this.#bytes.length) throw broken();
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }
}
