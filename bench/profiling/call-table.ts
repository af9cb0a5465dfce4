import type { Call } from './inspector.ts';
import type { PlaceOf } from './places.ts';

interface Line {
  name: string;
  self: number;
}

/** What each function took by itself, wherever it was called from, largest first; and the same of each file or package. */
export function tablesOf(root: Call, placeOf: PlaceOf): { functions: Line[]; places: Line[]; total: number } {
  const functions = new Map<string, number>();
  const places = new Map<string, number>();
  let total = 0;
  const waiting = [root];
  for (let call = waiting.pop(); call; call = waiting.pop()) {
    waiting.push(...call.children);
    if (call.self === 0) continue;
    const place = placeOf(call);
    const name = `${call.name}  ${place}`;
    functions.set(name, (functions.get(name) ?? 0) + call.self);
    // What V8 does by itself, such as collecting garbage, is told apart.
    const group = place === 'V8' ? call.name : place;
    places.set(group, (places.get(group) ?? 0) + call.self);
    total += call.self;
  }
  return { functions: sorted(functions), places: sorted(places), total };
}

function sorted(sums: ReadonlyMap<string, number>): Line[] {
  return [...sums].map(([name, self]) => ({ name, self })).sort((a, b) => b.self - a.self);
}

/** Prints the first lines with their share, and with what that is of `perRequest` in `unit`. */
export function printTable(
  title: string,
  lines: readonly Line[],
  { total, perRequest, unit, count }: { total: number; perRequest: number; unit: string; count: number },
): void {
  console.log(`\n${title.padEnd(72)} ${unit.padStart(9)}   share`);
  for (const { name, self } of lines.slice(0, count)) {
    const share = self / total;
    console.log(
      `${name.slice(0, 72).padEnd(72)} ${(share * perRequest).toFixed(1).padStart(9)} ${(100 * share).toFixed(1).padStart(5)} %`,
    );
  }
}
