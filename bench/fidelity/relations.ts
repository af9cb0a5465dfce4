import { countEach, take } from './lost-words.ts';
import type { Cell, Table } from './truth.ts';

/** Number of neighbour relations in the truth, in our reading, and in both. */
export interface Neighbours {
  truth: number;
  found: number;
  common: number;
}

/**
 * Compares tables like the competition: relates each cell to its nearest neighbour with text, to the right and below.
 * Two relations are equal if they have the same direction and the same letters, digits and signs.
 */
export function compareTables(truth: readonly Table[], found: readonly Table[]): Neighbours {
  const [theirs, ours] = [truth.flatMap(relationsOf), found.flatMap(relationsOf)];
  const left = countEach(ours);
  const common = theirs.filter((relation) => take(left, relation)).length;
  return { truth: theirs.length, found: ours.length, common };
}

/** Returns only letters, digits and the signs that change a number, with all kinds of dashes unified. */
export function keyOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[^\p{L}\p{N}+%-]/gu, '');
}

function relationsOf(table: Table): string[] {
  const width = Math.max(0, ...Array.from(table, (row) => row?.length ?? 0));
  const relations: string[] = [];
  for (const [direction, row, column] of [
    ['right', 0, 1],
    ['below', 1, 0],
  ] as const) {
    const known = new Map<Cell, Set<Cell>>();
    for (let y = 0; y < table.length; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const cell = table[y]?.[x];
        if (!cell || keyOf(cell.text) === '') continue;
        const next = nextCell(table, width, [y, x], [row, column]);
        const neighbours = known.get(cell) ?? new Set();
        known.set(cell, neighbours);
        if (!next || neighbours.has(next)) continue;
        neighbours.add(next);
        relations.push(`${direction} ${keyOf(cell.text)} ${keyOf(next.text)}`);
      }
    }
  }
  return relations;
}

/** Returns the next other cell with text in a direction. */
function nextCell(
  table: Table,
  width: number,
  from: [number, number],
  [down, right]: [number, number],
): Cell | undefined {
  const cell = table[from[0]]?.[from[1]];
  for (let [y, x] = [from[0] + down, from[1] + right]; y < table.length && x < width; y += down, x += right) {
    const next = table[y]?.[x];
    if (next && next !== cell && keyOf(next.text) !== '') return next;
  }
  return undefined;
}
