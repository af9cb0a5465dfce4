import { editDistance } from '../../platform/core/edit-distance.ts';

/** Names of environment variables of other programs that look like misspelt ones of ours: cron has MAILFROM. */
const FOREIGN = new Set(['MAILFROM']);

/** The name that a misspelt one is nearest to: at most one edit away, two for a long name; none for a short one. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  if (FOREIGN.has(misspelt)) return undefined;
  const name = misspelt.toUpperCase();
  const found = names
    .map((known) => ({ known, allowed: editsAllowed(known.length) }))
    .filter(({ allowed }) => allowed > 0)
    .map(({ known, allowed }) => ({ known, allowed, edits: editDistance(name, known, allowed) }))
    .filter(({ edits, allowed }) => edits <= allowed);
  return found.sort((a, b) => a.edits - b.edits)[0]?.known;
}

/** HOST is two edits from HOME, which every environment has. */
function editsAllowed(length: number): number {
  if (length < 6) return 0;
  return length < 9 ? 1 : 2;
}
