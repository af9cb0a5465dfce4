import versions from './extractor-versions.json' with { type: 'json' };
import type { Kind } from './formats/kinds.ts';

/**
 * Returns the version of the reader of a kind of files. It increases with every change that may extract other text or
 * show it differently. `npm run accept` increments it if documents of test/extractor-outputs.ts give other text, blocks
 * or HTML than before.
 */
export function extractorVersion(kind: Kind): number {
  const known: Partial<Record<Kind, { version: number }>> = versions;
  return known[kind]?.version ?? 0;
}
