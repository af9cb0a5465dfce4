import { type EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { ApiError } from '../core/errors.ts';
import type { Blobs, ReceivedBlob } from '../providers/storage/blobs.ts';
import type { Limits } from './services.ts';
import { toStorageError } from './to-api-error.ts';
import { fileTooLarge, refuseStorage, type StorageUse, tooManyFiles, uploadTooLarge } from './upload-limits.ts';

export interface ReceivedFile {
  /** As the client named it. */
  filename: string;
  content_type: string;
  blob: ReceivedBlob;
}

/** A multipart body: its files, and its other fields by name. */
export interface ReceivedForm {
  files: readonly ReceivedFile[];
  fields: Readonly<Record<string, string>>;
}

/** The form of a request without a multipart body. */
export const NO_FORM: ReceivedForm = { files: [], fields: {} };

interface ReceivingLimits extends Limits {
  /** The storage that the workspace already uses. */
  storage: StorageUse;
  /** Called with the total size of the files before they are kept. If it throws, they are discarded. */
  beforeKeeping(bytes: number): Promise<unknown>;
}

/** Allowance for the parts of a form that are not file contents. */
const FORM_BYTES = 2 ** 20;

/**
 * Receives the files of a multipart body into the blob store and makes them durable. If it throws, all received files
 * are discarded. Throws 400 `invalid_request` if the body is not multipart or has no file, 413 `payload_too_large`
 * above a limit, 503 `storage_unavailable` if the store fails, 409 `quota_exceeded` if the workspace may not store that
 * much.
 */
export async function receiveFiles(
  stream: Readable,
  headers: IncomingHttpHeaders,
  blobs: Blobs,
  limits: ReceivingLimits,
): Promise<ReceivedForm> {
  const receiving: Promise<ReceivedFile>[] = [];
  try {
    const fields = await parse(stream, headers, limits, (filename, content_type, file) => {
      const received = blobs.receive(file).then((blob) => ({ filename, content_type, blob }));
      receiving.push(received);
      return received;
    });
    const files = await Promise.all(receiving);
    if (files.length === 0) {
      throw new ApiError(
        'invalid_request',
        'The body contains no file. Send each file as a form field with a file name, for example "files".',
      );
    }
    await limits.beforeKeeping(files.reduce((sum, { blob }) => sum + blob.byte_size, 0));
    await forEachConcurrently(files, 8, (file) => file.blob.keep());
    return { files, fields };
  } catch (error) {
    await Promise.all(
      receiving.map(async (received) => {
        // A file that failed left nothing to discard.
        const settled = await received.catch(() => undefined);
        await settled?.blob.discard();
      }),
    );
    throw toStorageError(error);
  }
}

function parse(
  stream: Readable,
  headers: IncomingHttpHeaders,
  limits: ReceivingLimits,
  onFile: (filename: string, contentType: string, file: Readable) => Promise<unknown>,
): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const fields: Record<string, string> = Object.create(null);
    let busboy: InstanceType<typeof Busboy>;
    try {
      busboy = new Busboy({
        headers: headers as BusboyHeaders,
        preservePath: true,
        limits: {
          files: limits.upload_files,
          fileSize: limits.file_bytes,
          fields: 100,
          fieldSize: 65_536,
          headerPairs: 100,
        },
      });
    } catch (cause) {
      reject(new ApiError('invalid_request', 'The multipart body has no boundary.', { cause }));
      return;
    }
    let coming: Readable | undefined;
    let hasFailed = false;
    const fail = (error: Error) => {
      hasFailed = true;
      stream.resume();
      // The parser sends no more of this file, so its receiver would wait forever.
      coming?.destroy(error);
      reject(error);
    };
    // The parser keeps the type of a part but drops the charset in its header.
    let header = '';
    const { parser } = (busboy as unknown as { _parser: { parser: EventEmitter } })._parser;
    parser.prependListener('part', (part: EventEmitter) => {
      part.prependListener('header', (headers: Record<string, string[] | undefined>) => {
        header = headers['content-type']?.[0] ?? '';
      });
    });
    busboy.on('file', (_field, file, filename, _encoding, type) => {
      const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(header)?.[1];
      const contentType = charset === undefined ? type : `${type}; charset=${charset}`;
      // A body that ends within the file is reported as an error of the body. Without a listener the file's own error
      // would crash the process.
      file.on('error', () => undefined);
      if (filename === undefined || filename === '') {
        file.resume();
        return;
      }
      file.on('limit', () => {
        file.destroy(new Error('too large'));
        fail(fileTooLarge(filename, limits));
      });
      coming = file;
      // If the file cannot be stored, nothing reads it, and the parser would wait forever.
      onFile(filename, contentType, file).catch(fail);
    });
    busboy.on('field', (name, value) => {
      fields[name] = value;
    });
    busboy.on('filesLimit', () => fail(tooManyFiles(limits)));
    busboy.on('error', (cause) =>
      fail(new ApiError('invalid_request', 'The body is not valid multipart/form-data.', { cause })),
    );
    busboy.on('finish', () => resolve(fields));
    const feed = async (pieces: readonly Buffer[]) => {
      stream.pause();
      for (const piece of pieces) {
        if (hasFailed) return;
        if (!busboy.write(piece)) await once(busboy, 'drain');
        await nextTurn();
      }
      if (!hasFailed) stream.resume();
    };
    let feeding = Promise.resolve();
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.upload_bytes) fail(uploadTooLarge(limits));
      try {
        refuseStorage(limits.storage, bytes - FORM_BYTES);
      } catch (error) {
        fail(error as ApiError);
      }
      if (!hasFailed) feeding = feed(piecesOf(chunk)).catch(fail);
    });
    // The last chunk may still be on its way to the parser.
    stream.on('end', () => feeding.then(() => hasFailed || busboy.end()));
    stream.on('error', fail);
    const failUnlessComplete = () => {
      if (stream.readableEnded) return;
      fail(new ApiError('invalid_request', 'The connection closed before the body was complete.'));
    };
    stream.on('close', failUnlessComplete);
    // The client may have disconnected while the guard ran.
    if (stream.destroyed) failUnlessComplete();
  });
}

/**
 * Yield to other requests after this many parts: a chunk may contain hundreds of small files, each with a file to open.
 */
const PARTS_IN_TURN = 16;
const BEFORE_BOUNDARY = Buffer.from('\r\n--');

/** Splits a chunk after every PARTS_IN_TURN positions at which a part may have ended. */
function piecesOf(chunk: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  let parts = 0;
  for (let at = chunk.indexOf(BEFORE_BOUNDARY); at >= 0; at = chunk.indexOf(BEFORE_BOUNDARY, at + 4)) {
    parts += 1;
    if (parts % PARTS_IN_TURN > 0) continue;
    pieces.push(chunk.subarray(start, at));
    start = at;
  }
  return [...pieces, chunk.subarray(start)];
}

/** Runs `work` on all items, at most `width` at a time. */
async function forEachConcurrently<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
