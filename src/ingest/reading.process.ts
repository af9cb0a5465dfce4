import { once } from 'node:events';
import type { Packed, ReadAnswer } from './document-reader.ts';
import { readDocument } from './extract/document.ts';
import { ExtractError } from './extract/extract-error.ts';
import { filesIn } from './extract/unpack.ts';
import { frameOf, framesOf } from './frames.ts';
import { forgetNetwork } from './no-network.ts';
import type { Task } from './reading-process.ts';

/** Reads or unpacks one file after the other from stdin, and answers on stdout. What it may do is said by who starts it. */
forgetNetwork();
await write(frameOf({ ready: true }));
for await (const { header, body } of framesOf(process.stdin, 2 ** 31)) {
  const { task } = header as { task: Task };
  try {
    // The PDF reader takes the bytes for its own.
    if (task === 'read') await read(new Uint8Array(body));
    else await unpack(body);
  } catch (error) {
    if (!(error instanceof ExtractError)) throw error;
    await write(frameOf(refusal(error)));
  }
}

async function read(bytes: Uint8Array): Promise<void> {
  const { pictures = [], block_pages = [], ...document } = await readDocument(bytes);
  const sizes = pictures.map((picture) => ({ name: picture.name, byte_size: picture.bytes.length }));
  const answer: ReadAnswer = {
    ok: true,
    document: { ...document, block_pages: [...block_pages] },
    pictures: sizes,
  };
  const parts = pictures.map((picture) => picture.bytes);
  await write(frameOf(answer, parts));
}

async function unpack(bytes: Uint8Array): Promise<void> {
  const files = filesIn(bytes);
  for (const file of files ?? []) {
    const name = file.name;
    try {
      await write(frameOf({ ok: true, is: 'file', name } satisfies Packed, [file.read()]));
    } catch (error) {
      if (!(error instanceof ExtractError)) throw error;
      await write(frameOf({ ...refusal(error), name } satisfies Packed));
    }
  }
  await write(frameOf({ ok: true, is: files ? 'end' : 'document' } satisfies Packed));
}

function refusal({ code, message }: ExtractError) {
  return { ok: false as const, code, message };
}

async function write(frame: Buffer): Promise<void> {
  if (!process.stdout.write(frame)) await once(process.stdout, 'drain');
}
