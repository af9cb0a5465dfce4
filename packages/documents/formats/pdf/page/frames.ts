/** A rectangle, in points; y grows upwards. */
export interface Box {
  x: number;
  right: number;
  bottom: number;
  top: number;
}

/** Returns the smallest rectangle that contains all boxes. */
export function around(boxes: readonly Box[]): Box {
  return {
    x: Math.min(...boxes.map(({ x }) => x)),
    right: Math.max(...boxes.map(({ right }) => right)),
    bottom: Math.min(...boxes.map(({ bottom }) => bottom)),
    top: Math.max(...boxes.map(({ top }) => top)),
  };
}

/**
 * Returns the direction of a text in degrees, counterclockwise, rounded to a multiple of 90, or of 15 for slanted text.
 * Vertical text runs down.
 */
export function angleOf([a = 1, b = 0]: readonly number[], isVertical: boolean): number {
  if (b === 0 && a >= 0 && !isVertical) return 0;
  const degrees = (Math.atan2(b, a) * 180) / Math.PI - (isVertical ? 90 : 0);
  const upright = 90 * Math.round(degrees / 90);
  const rounded = Math.abs(degrees - upright) < 8 ? upright : 15 * Math.round(degrees / 15);
  return ((rounded % 360) + 360) % 360;
}

/** Rotates a point into the frame in which text of this angle runs from left to right. */
export function turnPoint(x: number, y: number, angle: number): [x: number, y: number] {
  if (angle === 0) return [x, y];
  if (angle === 90) return [y, -x];
  if (angle === 180) return [-x, -y];
  if (angle === 270) return [-y, x];
  const radians = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return [x * cos + y * sin, y * cos - x * sin];
}

/** Returns the bounding rectangle of a box after the same rotation. */
export function turnBox({ x, right, bottom, top }: Box, angle: number): Box {
  if (angle === 0) return { x, right, bottom, top };
  const corners = [x, right].flatMap((each) => [bottom, top].map((other) => turnPoint(each, other, angle)));
  const xs = corners.map(([each]) => each);
  const ys = corners.map(([, each]) => each);
  return { x: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}
