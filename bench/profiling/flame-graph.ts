import type { Call } from './inspector.ts';
import type { PlaceOf } from './places.ts';

const WIDTH = 1_600;
const ROW = 16;
/** Narrower calls are left out. */
const MIN_WIDTH = 0.5;
const CHARACTER = 6.2;

interface Frame {
  name: string;
  place: string;
  total: number;
  children: Frame[];
}

/** A flame graph (Gregg 2016) as SVG, callers above what they call; the title of each frame has its share. */
export function flameGraph(root: Call, placeOf: PlaceOf, title: string): string {
  const frame = frameOf([root], placeOf);
  const boxes: string[] = [];
  let depth = 0;
  const draw = ({ name, place, total, children }: Frame, x: number, row: number): void => {
    const width = (total / frame.total) * WIDTH;
    if (width < MIN_WIDTH) return;
    depth = Math.max(depth, row + 1);
    boxes.push(box(x, row, width, `${name}  ${place}`, total / frame.total));
    for (const child of children) {
      draw(child, x, row + 1);
      x += (child.total / frame.total) * WIDTH;
    }
  };
  draw(frame, 0, 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${(depth + 1) * ROW}" font-family="monospace" font-size="10">
<rect width="100%" height="100%" fill="white"/>
<text x="4" y="11">${escaped(title)}</text>
${boxes.join('\n')}
</svg>
`;
}

/** Calls of one function by one caller are one frame. */
function frameOf(calls: readonly Call[], placeOf: PlaceOf): Frame {
  const [first] = calls;
  const byFunction = Map.groupBy(
    calls.flatMap(({ children }) => children),
    ({ name, url, line }) => `${name} ${url} ${line}`,
  );
  const children = [...byFunction.values()].map((same) => frameOf(same, placeOf)).sort((a, b) => b.total - a.total);
  const self = calls.reduce((sum, call) => sum + call.self, 0);
  return {
    name: first?.name ?? '',
    place: first ? placeOf(first) : '',
    total: children.reduce((sum, { total }) => sum + total, self),
    children,
  };
}

function box(x: number, row: number, width: number, name: string, share: number): string {
  const shown = name.slice(0, Math.floor((width - 4) / CHARACTER));
  const text = shown.length < 3 ? '' : `<text x="${(x + 2).toFixed(1)}" y="${row * ROW + 11}">${escaped(shown)}</text>`;
  return `<g><title>${escaped(name)} (${(100 * share).toFixed(1)} %)</title><rect x="${x.toFixed(1)}" y="${row * ROW}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colorOf(name)}"/>${text}</g>`;
}

/** The same for the same file or package, in all graphs. */
function colorOf(name: string): string {
  const place = name.slice(name.indexOf('  ') + 2);
  let hash = 0;
  for (const character of place) hash = (hash * 31 + character.charCodeAt(0)) % 360;
  return `hsl(${hash} 65% 75%)`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
