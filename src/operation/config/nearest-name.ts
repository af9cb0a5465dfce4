import { editDistance } from '../../platform/core/edit-distance.ts';

/** Environment variables of other programs that resemble options: cron sets MAILFROM. */
const FOREIGN = new Set(['MAILFROM']);

/**
 * Returns the known name nearest to a misspelt one: at most one edit away, or two for long names. Short names never
 * match.
 */
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
