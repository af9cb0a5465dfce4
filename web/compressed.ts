import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import { chooseEncoding } from './assets.ts';

/** Smaller pages fit into the first packets of a connection anyway. */
const SMALL = 2_048;
/**
 * Up to this length a page is compressed synchronously: a thread would cost more than the half millisecond that this
 * takes.
 */
const AT_ONCE = 256 * 1_024;
/** Low levels, because a page is made for one visit: a higher level takes longer than sending the bytes it saves. */
const BROTLI_LEVEL = 3;
/** 128 kB: the usual window of 4 MB takes longer to set up than a page takes to compress. */
const BROTLI_WINDOW_BITS = 17;
const GZIP = { level: 4 };

/**
 * Compresses a page in the coding that the browser prefers. Pages opened from another site are not compressed: that
 * site could choose parts of them, such as the words of a search, and infer the rest from their lengths (BREACH).
 * Browsers state the origin of a visit in Sec-Fetch-Site, which scripts cannot change. Browsers without that header get
 * the page uncompressed.
 */
export async function compressed(
  text: string,
  { headers }: Pick<IncomingMessage, 'headers'>,
): Promise<{ body: Buffer; encoding: 'br' | 'gzip' | undefined }> {
  const site = headers['sec-fetch-site'];
  const isOwn = site === 'same-origin' || site === 'none';
  const encoding = isOwn && text.length >= SMALL ? chooseEncoding(String(headers['accept-encoding'] ?? '')) : undefined;
  if (encoding === undefined) return { body: Buffer.from(text), encoding };
  const isLong = text.length > AT_ONCE;
  if (encoding === 'gzip') return { body: isLong ? await promisify(gzip)(text, GZIP) : gzipSync(text, GZIP), encoding };
  const options = brotliOptions(text.length);
  const body = isLong ? await promisify(brotliCompress)(text, options) : brotliCompressSync(text, options);
  return { body, encoding };
}

function brotliOptions(length: number): BrotliOptions {
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL,
      [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: length,
    },
  };
}
