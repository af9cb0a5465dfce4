import { ApiError } from '../errors.ts';

/** A picture as it is stored and served: nothing but what is needed to draw it. */
export interface Picture {
  content_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  bytes: Buffer;
}

/** The bytes of a picture as it is sent. */
export const PICTURE_BYTES = 2 ** 20;

/** Pixels of a side. The browser of a reader decodes a hundred of these for a list of members. */
const PICTURE_SIDE = 1_024;

/** Errors: 400 `invalid_request` for a side without pixels, or with too many. */
export function requireSize(width: number, height: number): void {
  if (width > 0 && height > 0 && width <= PICTURE_SIDE && height <= PICTURE_SIDE) return;
  throw new ApiError(
    'invalid_request',
    `The picture has ${width} × ${height} pixels, and may have ${PICTURE_SIDE} on each side. Make it smaller and send it again.`,
  );
}

export function broken(): ApiError {
  return new ApiError(
    'invalid_request',
    'The picture is broken or of an unusual kind. Save it again as PNG or JPEG, and send that.',
  );
}

export function animated(): ApiError {
  return new ApiError('invalid_request', 'The picture is animated. Send one of its frames as a picture of its own.');
}

/** Reads bytes one after the other. Errors: 400 where they end too early. */
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
