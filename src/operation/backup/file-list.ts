import { DamagedObject } from './encryption.ts';
import { type Content, measure } from './measure.ts';

const BATCH = 64;

/** Passes the content of a file through. Throws DamagedObject at the end if its hash differs. */
export async function* hashed(content: Content, sha256: string): AsyncGenerator<Uint8Array> {
  const measured = measure();
  yield* measured.of(content);
  if (measured.result().sha256 !== sha256) throw new DamagedObject('its hash differs from its name');
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
