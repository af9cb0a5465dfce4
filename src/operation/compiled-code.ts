import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Caches compiled code in DATA_DIR, which no other user can write to, to speed up the next start. An entry belongs to
 * one content of a file and one version of Node. If caching fails, starts stay as slow as the first.
 */
export function keepCompiledCode(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch {
    // A faulty folder is reported where it is needed.
    return;
  }
  enableCompileCache(join(dataDir, 'compiled'));
}
