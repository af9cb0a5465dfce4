import { Readable } from 'node:stream';
import { contentDisposition } from '@ibid/documents/filename.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { ApiError } from '../core/errors.ts';
import type { Blobs } from '../providers/storage/blobs.ts';
import { isKnown } from './representation.ts';

/** A stored file as the reply of an endpoint. */
export interface StoredFile {
  sha256: string;
  byte_size: number;
  /** Detected from the bytes, regardless of the declared type. */
  content_type: string;
  filename: string;
  /** Whether browsers may display it. Content that could contain a script can only be downloaded. */
  inline: boolean;
  /** The URL is a secret of this content: browsers that know it may cache the bytes and show them on any site. */
  isImmutable?: true;
  /** Seconds for which browsers may use it without revalidation; default 0. */
  maxAge?: number;
  /** The bytes, if they were made for this response and are not stored. */
  content?: Buffer;
}

/**
 * Reply of an endpoint that sends a StoredFile: whole, in part, or as 304 if unchanged (RFC 9110, sections 13 and 14).
 */
export const Bytes = Type.Unsafe<StoredFile>({ type: 'string', contentMediaType: 'application/octet-stream' });

/** A file that is generated while it is sent, and is not stored. */
export interface Download {
  stream: Readable;
  content_type: string;
  filename: string;
}

/**
 * Reply of an endpoint that sends a Download. If the stream fails, the connection is closed in the middle of the
 * response.
 */
export const Download = Type.Unsafe<Download>({ type: 'string', contentMediaType: 'application/zip' });

/** `private`, so that no shared cache continues to serve content that its owner has removed. */
const IMMUTABLE = {
  'cache-control': 'private, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'cross-origin',
};

/** How long a client may accept no bytes before its connection and the open file are closed. */
const STALLED_MS = 60_000;

/**
 * Answers 200, 206, 304 or 416, depending on the request's headers. The caller must have authorized access to the file.
 * Throws 416 `range_not_satisfiable`; 503 `storage_unavailable` if the store has lost or cannot read the file.
 */
export async function sendBytes(request: FastifyRequest, reply: FastifyReply, blobs: Blobs, file: StoredFile) {
  const { headers } = request.raw;
  const { sha256, byte_size } = file;
  const etag = `"${sha256}"`;
  // Shared caches do not store it and browsers revalidate it each time, so a caller who loses access no longer gets it.
  const cached = { 'cache-control': file.maxAge ? `private, max-age=${file.maxAge}` : 'private, no-cache' };
  const ofEach = { etag, ...(file.isImmutable ? IMMUTABLE : cached) };
  const isHead = request.method === 'HEAD';
  if (isKnown(headers['if-none-match'], etag)) {
    return reply
      .code(304)
      .headers(ofEach)
      .send(isHead ? Readable.from([]) : undefined);
  }
  const ifRange = headers['if-range'];
  const isOfThis = ifRange === undefined || ifRange === etag;
  const range = !isHead && isOfThis ? readRange(headers.range, byte_size) : undefined;
  if (range === 'nowhere') {
    reply.header('content-range', `bytes */${byte_size}`);
    throw new ApiError('range_not_satisfiable', `The file has ${byte_size} bytes, and the range starts after its end.`);
  }
  const stream = isHead ? Readable.from([]) : await open(blobs, file, range);
  if (!isHead) reply.raw.setTimeout(STALLED_MS, () => request.raw.socket.destroy());
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${byte_size}`);
  return reply
    .headers({
      ...ofEach,
      'accept-ranges': 'bytes',
      'content-type': file.content_type,
      'content-length': range ? range.end - range.start + 1 : byte_size,
      'content-disposition': contentDisposition(file.inline ? 'inline' : 'attachment', file.filename),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    })
    .send(stream);
}

/** Sends a Download. `onFailure` gets the error of the stream; the client only sees that the response is incomplete. */
export function sendDownload(
  request: FastifyRequest,
  reply: FastifyReply,
  file: Download,
  onFailure: (error: unknown) => void,
) {
  file.stream.once('error', onFailure);
  reply.raw.setTimeout(STALLED_MS, () => request.raw.socket.destroy());
  return reply
    .headers({
      'cache-control': 'no-store',
      'content-type': file.content_type,
      'content-disposition': contentDisposition('attachment', file.filename),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    })
    .send(file.stream);
}

async function open(blobs: Blobs, { sha256, content }: StoredFile, range: ByteRange | undefined): Promise<Readable> {
  if (content) return Readable.from([range ? content.subarray(range.start, range.end + 1) : content]);
  try {
    return await blobs.stream(sha256, range);
  } catch (cause) {
    throw new ApiError('storage_unavailable', 'The file store cannot deliver the file. Try again later.', {
      cause,
    });
  }
}

/** First and last byte, counted from 0. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * Parses a single range and truncates it at the end of the file. Returns undefined for several ranges or an invalid
 * header, which is then ignored (RFC 9110, 14.2), and 'nowhere' if the file has no byte in the range.
 */
function readRange(header: string | undefined, size: number): ByteRange | 'nowhere' | undefined {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === '') {
    if (last === '' || size === 0) return undefined;
    return Number(last) === 0 ? 'nowhere' : { start: Math.max(size - Number(last), 0), end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'nowhere';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
