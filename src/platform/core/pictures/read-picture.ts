import type { Readable } from 'node:stream';
import { ApiError } from '../errors.ts';
import { PICTURE_BYTES } from './picture.ts';

/** Reads an uploaded picture. Throws 413 above PICTURE_BYTES; 400 if the connection closes early. */
export async function readPicture(stream: Readable, announced: string | undefined): Promise<Buffer> {
  if (Number(announced ?? 0) > PICTURE_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      length += chunk.length;
      if (length > PICTURE_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw new ApiError('invalid_request', 'The connection closed before the picture was complete.', { cause });
  }
  return Buffer.concat(chunks);
}

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', 'A picture may have at most 1 MiB. Make it smaller and send it again.');
}
