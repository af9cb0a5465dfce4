import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Keeps what Node compiles from now on in DATA_DIR, which no other user can write to, so that the next start is faster.
 * Each entry belongs to one content of a file and one version of Node. Where it cannot be kept, the start is as slow as the
 * first one.
 */
export function keepCompiledCode(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch {
    // What is wrong with the folder is reported where it is needed.
    return;
  }
  enableCompileCache(join(dataDir, 'compiled'));
}
