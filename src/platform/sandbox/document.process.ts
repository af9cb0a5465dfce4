import { once } from 'node:events';
import { ExtractError } from '@ibid/documents/formats/extract-error.ts';
import type { ExtractedDocument, UploadedFile } from '@ibid/documents/formats/extracted.ts';
import { boundLosses } from '@ibid/documents/formats/losses.ts';
import { readDocument } from '@ibid/documents/formats/read-document.ts';
import { filesIn, type PackedFile } from '@ibid/documents/formats/zip/unpack.ts';
import type { ReadResponse, UnpackResponse } from './document-messages.ts';
import { frameOf, framesOf } from './frames.ts';
import { disableNetwork } from './no-network.ts';

/** Limits of one batch. Batches, because a frame costs more than the content of a small file. */
const MAX_BATCH_FILES = 100;
const MAX_BATCH_BYTES = 2 ** 20;

type Request = { task: 'read'; filename: string; content_type: string } | { task: 'unpack' };

/**
 * Reads or unpacks files from stdin, one after the other, and writes the responses to stdout. The parent process sets
 * its permissions.
 */
disableNetwork();
// Without DecompressionStream PDF.js uses its own inflate, which is faster for the short streams of most documents.
Reflect.deleteProperty(globalThis, 'DecompressionStream');
/**
 * PDF.js fetches pages ahead and does not handle the rejections of pages that it never uses; two damaged pages would
 * end the process. Code that needs a damaged page awaits it too, so the failure is still handled and listed.
 */
process.on('unhandledRejection', () => undefined);
await write(frameOf({ ready: true }));
for await (const { header, body } of framesOf(process.stdin, 2 ** 31)) {
  const request = header as Request;
  try {
    if (request.task === 'read') await read({ ...request, bytes: body });
    else await unpack(body);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    await write(frameOf(refusal(error)));
  }
}

/**
 * Sends the document first and its pictures after it: if the pictures exceed a limit, the text has already been sent.
 */
async function read(file: UploadedFile): Promise<void> {
  const document = await readDocument(file);
  await write(responseOf(document));
  if (document.readMore) await write(responseOf(await document.readMore()));
}

function responseOf({
  pictures = [],
  block_pages = [],
  losses = [],
  lines,
  readMore,
  ...document
}: ExtractedDocument): Buffer {
  const answer: ReadResponse = {
    ok: true,
    document: {
      ...document,
      block_pages: [...block_pages],
      losses: boundLosses(losses),
      ...(lines && { lines: [...lines] }),
    },
    pictures: pictures.map(({ name, bytes }) => ({ name, byte_size: bytes.length })),
    has_more: readMore !== undefined,
  };
  return frameOf(
    answer,
    pictures.map(({ bytes }) => bytes),
  );
}

async function unpack(bytes: Uint8Array): Promise<void> {
  const packed = filesIn(bytes);
  let files: { name: string; content: number | { code: string; message: string } }[] = [];
  let parts: Buffer[] = [];
  let held = 0;
  const send = async () => {
    if (files.length > 0) await write(frameOf({ ok: true, is: 'files', files } satisfies UnpackResponse, parts));
    files = [];
    parts = [];
    held = 0;
  };
  for (const file of packed?.files ?? []) {
    const content = contentOf(file);
    if (Buffer.isBuffer(content)) {
      if (held + content.length > MAX_BATCH_BYTES) await send();
      parts.push(content);
      held += content.length;
    }
    files.push({ name: file.name, content: Buffer.isBuffer(content) ? content.length : content });
    if (files.length >= MAX_BATCH_FILES) await send();
  }
  await send();
  const end: UnpackResponse = packed
    ? { ok: true, is: 'archive', left_out: packed.left_out }
    : { ok: true, is: 'document' };
  await write(frameOf(end));
}

function contentOf(file: PackedFile): Buffer | { code: string; message: string } {
  try {
    return file.read();
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    const { code, message } = error;
    return { code, message };
  }
}

function refusal({ code, message }: ExtractError) {
  return { ok: false as const, code, message };
}

async function write(frame: Buffer): Promise<void> {
  if (!process.stdout.write(frame)) await once(process.stdout, 'drain');
}
