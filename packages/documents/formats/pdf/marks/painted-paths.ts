import { type Matrix, product } from '../pictures/paint-operators.ts';

/** A page with more operators is a drawing. */
const STEPS_MAX = 30_000;
const SAVED_MAX = 200;

/** Operators that move, draw and paint, and the start of a text, which may contain the same letters. */
const STEP = /\(|(?<=\s)(?:cm|q|Q|re|[mlcvyhnFfSsBb]|[fBb]\*)(?=\s|$)/g;

export type Point = readonly [x: number, y: number];

/** A painted path, in page coordinates in points. */
export interface PaintedPath {
  /**
   * The corners of each subpath, with the first corner repeated if it is closed; for curves also their control points.
   */
  parts: Point[][];
  /** The number of lines, curves and rectangles. */
  segments: number;
  hasCurves: boolean;
  isStroked: boolean;
}

/**
 * Returns the paths that a page paints; none if it has more operators than the limit. Reads the content stream
 * directly, because PDF.js takes as long for its operator list as for the text.
 */
export function paintedPaths(content: string): PaintedPath[] {
  const paths: PaintedPath[] = [];
  const saved: Matrix[] = [];
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  let path = emptyPath();
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
    if (steps > STEPS_MAX) return [];
    if (step === 'q') {
      if (saved.length < SAVED_MAX) saved.push(matrix);
    } else if (step === 'Q') matrix = saved.pop() ?? matrix;
    else if (step === 'cm') matrix = product(matrix, numbersBefore(content, from, index, 6) as unknown as Matrix);
    else if (step === 're') {
      const [x = 0, y = 0, width = 0, height = 0] = numbersBefore(content, from, index, 4);
      path.parts.push([]);
      addPoints(path, matrix, [x, y, x + width, y, x + width, y + height, x, y + height, x, y]);
    } else if (/^[mlcvy]$/.test(step)) {
      const count = { m: 2, l: 2, c: 6, v: 4, y: 4 }[step] ?? 2;
      if (step === 'm') path.parts.push([]);
      path.hasCurves ||= count > 2;
      // The control points bound a curve closely enough.
      addPoints(path, matrix, numbersBefore(content, from, index, count));
    } else if (step === 'h') close(path);
    else {
      if (/^[sb]/.test(step)) close(path);
      if (step !== 'n') paths.push({ ...path, isStroked: /^[SsBb]/.test(step) });
      path = emptyPath();
    }
  }
  return paths;
}

function emptyPath(): PaintedPath {
  return { parts: [], segments: 0, hasCurves: false, isStroked: false };
}

function close({ parts }: PaintedPath): void {
  const [first] = parts.at(-1) ?? [];
  if (first) parts.at(-1)?.push(first);
}

/** Returns the offset after a text that begins here, including balanced brackets in it. */
export function endOfText(content: string, begin: number): number {
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

/** Returns the last numbers in front of an operator, 0 for missing numbers. */
export function numbersBefore(content: string, from: number, to: number, count: number): number[] {
  const words = content
    .slice(Math.max(from, to - 200), to)
    .trim()
    .split(/\s+/)
    .slice(-count)
    .map(Number);
  return Array.from({ length: count }, (_, i) => (Number.isFinite(words[i]) ? (words[i] as number) : 0));
}

function addPoints(path: PaintedPath, [a, b, c, d, e, f]: Matrix, numbers: readonly number[]): void {
  if (path.parts.length === 0) path.parts.push([]);
  path.segments += 1;
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const [x, y] = [numbers[i] ?? 0, numbers[i + 1] ?? 0];
    path.parts.at(-1)?.push([a * x + c * y + e, b * x + d * y + f]);
  }
}
