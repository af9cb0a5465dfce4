import type { Box } from '../page/frames.ts';
import { type Matrix, product } from '../pictures/paint-operators.ts';

/** The sides of a mark of a list, in points, and how much they may differ. */
const SIDE_MIN = 1.2;
const SIDE_MAX = 14;
const SIDES_DIFFER = 0.2;

/** A page that draws more, in steps or shapes, is a drawing. */
const STEPS_MAX = 30_000;
const SHAPES_MAX = 1_000;
/** Curves and lines of a shape: a circle of some programs has sixteen. */
const SEGMENTS_MAX = 40;
const SAVED_MAX = 200;

/** What moves, draws and paints, and where a text begins, in which the same letters may stand. */
const STEP = /\(|(?<=\s)(?:cm|q|Q|re|[mlcvyhnFfSsBb]|[fBb]\*)(?=\s|$)/g;

interface Path {
  points: [number, number][];
  segments: number;
}

/**
 * The small discs, circles and squares that a page paints: what may be a mark of a list. It reads the program of the page
 * itself, because the library takes as long for its list of operations as for the text. A page that is a drawing has none.
 */
export function smallShapes(content: string): Box[] {
  const shapes: Box[] = [];
  const saved: Matrix[] = [];
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  let path: Path = { points: [], segments: 0 };
  let operands = 0;
  let steps = 0;
  const next = new RegExp(STEP);
  for (let found = next.exec(content); found; found = next.exec(content)) {
    const { 0: step, index } = found;
    const from = operands;
    if (step === '(') next.lastIndex = endOfText(content, index);
    operands = next.lastIndex;
    if (step === '(') continue;
    steps += 1;
    if (steps > STEPS_MAX || shapes.length > SHAPES_MAX) return [];
    if (step === 'q') {
      if (saved.length < SAVED_MAX) saved.push(matrix);
    } else if (step === 'Q') matrix = saved.pop() ?? matrix;
    else if (step === 'cm') matrix = product(matrix, numbersBefore(content, from, index, 6) as unknown as Matrix);
    else if (step === 're') {
      const [x = 0, y = 0, width = 0, height = 0] = numbersBefore(content, from, index, 4);
      addPoints(path, matrix, [x, y, x + width, y, x + width, y + height, x, y + height]);
    } else if (/^[mlcvy]$/.test(step)) {
      const count = { m: 2, l: 2, c: 6, v: 4, y: 4 }[step] ?? 2;
      // The points beside a curve say how far it reaches, well enough.
      addPoints(path, matrix, numbersBefore(content, from, index, count));
    } else if (step !== 'h') {
      const shape = step === 'n' ? undefined : shapeOf(path);
      if (shape) shapes.push(shape);
      path = { points: [], segments: 0 };
    }
  }
  return shapes;
}

/** Where a text ends that begins here, with the texts in brackets in it. */
function endOfText(content: string, begin: number): number {
  const special = /[()\\]/g;
  special.lastIndex = begin + 1;
  let open = 1;
  for (let found = special.exec(content); found; found = special.exec(content)) {
    if (found[0] === '\\') special.lastIndex += 1;
    else open += found[0] === '(' ? 1 : -1;
    if (open === 0) return special.lastIndex;
  }
  return content.length;
}

/** The last numbers in front of a step; those that are missing are 0. */
function numbersBefore(content: string, from: number, to: number, count: number): number[] {
  const words = content
    .slice(Math.max(from, to - 200), to)
    .trim()
    .split(/\s+/)
    .slice(-count)
    .map(Number);
  return Array.from({ length: count }, (_, i) => (Number.isFinite(words[i]) ? (words[i] as number) : 0));
}

function addPoints(path: Path, [a, b, c, d, e, f]: Matrix, numbers: readonly number[]): void {
  path.segments += 1;
  if (path.segments > SEGMENTS_MAX) return;
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const [x, y] = [numbers[i] ?? 0, numbers[i + 1] ?? 0];
    path.points.push([a * x + c * y + e, b * x + d * y + f]);
  }
}

function shapeOf({ points, segments }: Path): Box | undefined {
  if (points.length < 3 || segments > SEGMENTS_MAX) return undefined;
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const box = { x: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
  const [width, height] = [box.right - box.x, box.top - box.bottom];
  const side = Math.max(width, height);
  return Math.min(width, height) >= SIDE_MIN && side <= SIDE_MAX && Math.abs(width - height) <= SIDES_DIFFER * side
    ? box
    : undefined;
}
