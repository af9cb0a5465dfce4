/** Names of environment variables of other programs that look like misspelt ones of ours: cron has MAILFROM. */
const FOREIGN = new Set(['MAILFROM']);

/** The name that a misspelt one is nearest to: at most one edit away, two for a long name; none for a short one. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  if (FOREIGN.has(misspelt)) return undefined;
  const name = misspelt.toUpperCase();
  const found = names
    .map((known) => ({ known, edits: editsBetween(name, known) }))
    .filter(({ known, edits }) => edits <= editsAllowed(known.length));
  return found.sort((a, b) => a.edits - b.edits)[0]?.known;
}

/** HOST is two edits from HOME, which every environment has. */
function editsAllowed(length: number): number {
  if (length < 6) return -1;
  return length < 9 ? 1 : 2;
}

/** Letters to insert, delete, replace, or exchange with the next one (optimal string alignment distance). */
function editsBetween(from: string, to: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let least = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    before = previous;
    previous = row;
  }
  return previous[to.length] ?? 0;
}
