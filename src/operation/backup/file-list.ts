import { DamagedObject } from './encryption.ts';
import { type Content, measure } from './measure.ts';

/** How many files are looked at together. */
const BATCH = 64;

/** The content of a file. Errors: DamagedObject at its end where it has another hash. */
export async function* hashed(content: Content, sha256: string): AsyncGenerator<Uint8Array> {
  const measured = measure();
  yield* measured.of(content);
  if (measured.result().sha256 !== sha256) throw new DamagedObject('it has another hash than its name says');
}

export async function* inBatches(lines: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const line of lines) {
    if (batch.push(line) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
