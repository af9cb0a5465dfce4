import type { Signatures } from '../../../platform/access/signatures.ts';
import type { Query } from '../../../platform/db/db.ts';
import type { Blobs } from '../../../platform/providers/storage/blobs.ts';
import type { Sandbox } from '../../../platform/sandbox/sandbox.ts';
import type { Archive } from './open-archive.ts';
import type { Staging } from './staged-rows.ts';

/** What an import prepares its rows with. No transaction is open meanwhile, and nothing of it is visible yet. */
export interface ImportContext {
  query: Query;
  staging: Staging;
  wiki_id: string;
  /** The user who imports. */
  creator: string;
  /** When the attempt began. */
  now: string;
  archive: Archive;
  blobs: Blobs;
  sandbox: Sandbox;
  signatures: Signatures;
  limits: { markdown_bytes: number; file_bytes: number };
}

/** Texts that are rendered and written together: enough to be fast, and little to hold in memory. */
const BATCH = 250;
const BATCH_CHARACTERS = 4 * 2 ** 20;

/** Calls `make` for all items of a batch at once, and `write` with what came of it while the next batch is made. */
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
    // Its failure is thrown where it is waited for; until then it is not an unhandled one.
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
