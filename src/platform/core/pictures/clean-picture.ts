import { ApiError } from '../errors.ts';
import { cleanGif, GIF_SIGNATURE } from './clean-gif.ts';
import { cleanJpeg, JPEG_SIGNATURE } from './clean-jpeg.ts';
import { cleanPng, PNG_SIGNATURE } from './clean-png.ts';
import { cleanWebp, isWebp } from './clean-webp.ts';
import type { Picture } from './picture.ts';

/**
 * Detects the format by its signature and removes all data that is not needed to draw the picture: GPS positions,
 * metadata, embedded texts, trailing bytes. Only scans the structure and decodes nothing, which keeps hostile files
 * harmless. Throws 415 for anything except PNG, JPEG, GIF and WebP; 400 for a broken, animated or oversized picture.
 */
export function cleanPicture(bytes: Buffer): Picture {
  if (startsWith(bytes, PNG_SIGNATURE)) return { content_type: 'image/png', bytes: cleanPng(bytes) };
  if (startsWith(bytes, JPEG_SIGNATURE)) return { content_type: 'image/jpeg', bytes: cleanJpeg(bytes) };
  if (GIF_SIGNATURE.test(bytes.toString('latin1', 0, 6))) return { content_type: 'image/gif', bytes: cleanGif(bytes) };
  if (isWebp(bytes)) return { content_type: 'image/webp', bytes: cleanWebp(bytes) };
  throw new ApiError('unsupported_media_type', 'The file is not a picture. Send a PNG, JPEG, WebP or GIF.');
}

function startsWith(bytes: Buffer, signature: Buffer): boolean {
  return bytes.subarray(0, signature.length).equals(signature);
}
