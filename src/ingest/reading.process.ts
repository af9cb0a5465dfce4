import type { ReadAnswer } from './document-reader.ts';
import { readDocument } from './extract/document.ts';
import { ExtractError } from './extract/extract-error.ts';
import { frameOf, framesOf } from './frames.ts';
import { forgetNetwork } from './no-network.ts';

/** Reads one document after the other from stdin, and answers each on stdout. What it may do is said by who starts it. */
forgetNetwork();
process.stdout.write(frameOf({ ready: true }));
for await (const { body } of framesOf(process.stdin, 2 ** 31)) {
  process.stdout.write(await answerTo(body));
}

async function answerTo(body: Buffer): Promise<Buffer> {
  try {
    // The PDF reader takes the bytes for its own.
    const { pictures = [], block_pages = [], ...document } = await readDocument(new Uint8Array(body));
    const sizes = pictures.map(({ name, bytes }) => ({ name, byte_size: bytes.length }));
    return frameOf(
      { ok: true, document: { ...document, block_pages: [...block_pages] }, pictures: sizes } satisfies ReadAnswer,
      pictures.map(({ bytes }) => bytes),
    );
  } catch (error) {
    if (error instanceof ExtractError) return frameOf({ ok: false, code: error.code, message: error.message });
    throw error;
  }
}
