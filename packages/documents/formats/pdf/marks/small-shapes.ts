import type { Box } from '../page/frames.ts';
import type { PaintedPath } from './painted-paths.ts';

/** Bounds for the sides of a list mark, in points, and for their relative difference. */
const SIDE_MIN = 1.2;
const SIDE_MAX = 14;
const SIDES_DIFFER = 0.2;

/** A page with more shapes is a drawing. */
const SHAPES_MAX = 1_000;
/** The limit of curves and lines in a shape; some programs draw a circle with sixteen. */
const SEGMENTS_MAX = 40;

/** Finds small discs, circles and squares, which may be list marks. Returns none if the page is a drawing. */
export function smallShapes(paths: readonly PaintedPath[]): Box[] {
  const shapes = paths.flatMap((path) => shapeOf(path) ?? []);
  return shapes.length > SHAPES_MAX ? [] : shapes;
}

function shapeOf({ parts, segments }: PaintedPath): Box | undefined {
  const points = segments > SEGMENTS_MAX ? [] : parts.flat();
  if (points.length < 3) return undefined;
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const box = { x: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
  const [width, height] = [box.right - box.x, box.top - box.bottom];
  const side = Math.max(width, height);
  return Math.min(width, height) >= SIDE_MIN && side <= SIDE_MAX && Math.abs(width - height) <= SIDES_DIFFER * side
    ? box
    : undefined;
}
