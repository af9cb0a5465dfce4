import versions from './extractor-versions.json' with { type: 'json' };
import type { Kind } from './formats/kinds.ts';

/**
 * The version of what reads files of a kind: it is raised with everything that may read another text off a file, or show it in another way. `npm run
 * accept` raises it where the documents of test/extractor-outputs.ts give another text, other blocks or other HTML than before.
 */
export function extractorVersion(kind: Kind): number {
  const known: Partial<Record<Kind, { version: number }>> = versions;
  return known[kind]?.version ?? 0;
}
