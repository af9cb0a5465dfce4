import { OPS } from 'unpdf/pdfjs';
import type { Rule } from '../page/grids.ts';
import { type Matrix, product } from '../pictures/paint-operators.ts';
import type { PaintedPath, Point } from './painted-paths.ts';

/** Pages with more lines are drawings. */
const RULES_MAX = 8_000;

/** A filled rectangle is a line up to this thickness, in points; shorter lines do not separate cells. */
const THICK = 3;
const SHORT = 4;

/** Operators that end a path and paint it. */
const STROKES = new Set<number>([OPS.stroke, OPS.closeStroke, OPS.fillStroke, OPS.eoFillStroke, OPS.closeFillStroke]);
const FILLS = new Set<number>([OPS.fill, OPS.eoFill]);

/** The number of coordinates after each path operator: move, line, cubic curve, quadratic curve, close. */
const COORDINATES = [2, 2, 6, 4, 0];

/** Finds the lines that a page draws in its operator list; none if it has too many. */
export function rulesOf(operators: readonly number[], args: readonly unknown[]): Rule[] {
  const rules: Rule[] = [];
  const saved: Matrix[] = [];
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  for (const [i, operator] of operators.entries()) {
    if (operator === OPS.save || operator === OPS.beginGroup) saved.push(matrix);
    else if (operator === OPS.restore || operator === OPS.endGroup || operator === OPS.paintFormXObjectEnd)
      matrix = saved.pop() ?? matrix;
    else if (operator === OPS.transform) matrix = transformed(matrix, args[i]);
    else if (operator === OPS.paintFormXObjectBegin) {
      saved.push(matrix);
      matrix = transformed(matrix, (args[i] as readonly unknown[])[0]);
    } else if (operator === OPS.constructPath) {
      const [paint, paths] = (args[i] ?? []) as [number, (Float32Array | null)[]];
      if (!STROKES.has(paint) && !FILLS.has(paint)) continue;
      for (const path of paths) if (path) rules.push(...rulesOfPath(path, matrix, STROKES.has(paint)));
    }
    if (rules.length > RULES_MAX) return [];
  }
  return rules;
}

/** Finds the lines among the paths of a page; none if it has too many. */
export function rulesOfPaths(paths: readonly PaintedPath[]): Rule[] {
  const rules: Rule[] = [];
  for (const { parts, hasCurves, isStroked } of paths) {
    if (hasCurves) continue;
    for (const part of parts) rules.push(...(isStroked ? rulesBetween(part) : thinRectangle(part)));
    if (rules.length > RULES_MAX) return [];
  }
  return rules;
}

function transformed(matrix: Matrix, by: unknown): Matrix {
  return by != null && (by as ArrayLike<number>).length === 6 ? product(matrix, by as Matrix) : matrix;
}

/** Returns the lines of a stroked path, or the thin rectangles of a filled path. */
function rulesOfPath(path: Float32Array, matrix: Matrix, isStroked: boolean): Rule[] {
  const rules: Rule[] = [];
  let points: Point[] = [];
  const end = () => {
    rules.push(...(isStroked ? rulesBetween(points) : thinRectangle(points)));
    points = [];
  };
  for (let at = 0; at < path.length; ) {
    const step = path[at] ?? 0;
    const count = COORDINATES[step];
    if (count === undefined) return rules;
    const [x = 0, y = 0] = [path[at + count - 1], path[at + count]];
    at += count + 1;
    if (step === 0) end();
    const [first] = points;
    if (step === 4 && first) points.push(first);
    else if (step < 2)
      points.push([matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5]]);
    // A part after a curve is not a rectangle.
    else if (step < 4) points = [];
  }
  end();
  return rules;
}

function rulesBetween(points: readonly Point[]): Rule[] {
  return points.flatMap(([x, y], i): Rule[] => {
    const [u, v] = points[i - 1] ?? [x, y];
    if (Math.abs(v - y) < 0.5 && Math.abs(u - x) > SHORT)
      return [{ isHorizontal: true, at: y, from: Math.min(x, u), to: Math.max(x, u) }];
    if (Math.abs(u - x) < 0.5 && Math.abs(v - y) > SHORT)
      return [{ isHorizontal: false, at: x, from: Math.min(y, v), to: Math.max(y, v) }];
    return [];
  });
}

function thinRectangle(points: readonly Point[]): Rule[] {
  if (points.length < 4 || points.length > 6) return [];
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  if (top - bottom <= THICK && right - left > SHORT)
    return [{ isHorizontal: true, at: (top + bottom) / 2, from: left, to: right }];
  if (right - left <= THICK && top - bottom > SHORT)
    return [{ isHorizontal: false, at: (left + right) / 2, from: bottom, to: top }];
  return [];
}
