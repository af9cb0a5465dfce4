import { mkdirSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Keeps what Node compiles from now on in DATA_DIR, which no other user can write to, so that the next start is faster
 * and need not load the compiler of TypeScript (about 20 MB). Each entry belongs to one content of a file and one
 * version of Node. Where it cannot be kept, the start is as slow as the first one.
 */
export function keepCompiledCode(dataDir: string): { write(): void } {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch {
    // What is wrong with the folder is reported where it is needed.
    return { write: () => undefined };
  }
  enableCompileCache(join(dataDir, 'compiled'));
  return { write: flushCompileCache };
}
