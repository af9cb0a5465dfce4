import type { Signatures } from '../../../platform/access/signatures.ts';
import type { Query } from '../../../platform/db/db.ts';
import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import type { Sandbox } from '../../../platform/sandbox/sandbox.ts';
import type { Archive } from './open-archive.ts';
import type { Staging } from './staged-rows.ts';

/** The dependencies of an import while it prepares its rows. No transaction is open, and no row is visible yet. */
export interface ImportContext {
  query: Query;
  staging: Staging;
  wiki_id: string;
  /** The user who started the import. */
  creator: string;
  /** The start of this attempt. */
  now: string;
  archive: Archive;
  blobs: Blobs;
  sandbox: Sandbox;
  signatures: Signatures;
  limits: { markdown_bytes: number; file_bytes: number };
}

/** Limits of a batch that is rendered and written together: large enough to be fast, small enough for memory. */
const BATCH = 250;
const BATCH_CHARACTERS = 4 * 2 ** 20;

/** Calls `make` for all items of a batch concurrently, and `write` with the results while the next batch is made. */
export async function inBatches<A, B>(
  items: AsyncIterable<A> | Iterable<A>,
  lengthOf: (item: A) => number,
  make: (item: A) => Promise<B>,
  write: (made: B[]) => Promise<void>,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  let batch: A[] = [];
  let length = 0;
  async function flush(): Promise<void> {
    const made = await Promise.all(batch.map(make));
    batch = [];
    length = 0;
    await writing;
    writing = write(made);
    // A rejection is thrown where the batch is awaited; until then, keep it from being an unhandled rejection.
    writing.catch(() => undefined);
  }
  for await (const item of items) {
    batch.push(item);
    length += lengthOf(item);
    if (batch.length >= BATCH || length >= BATCH_CHARACTERS) await flush();
  }
  await flush();
  await writing;
}
