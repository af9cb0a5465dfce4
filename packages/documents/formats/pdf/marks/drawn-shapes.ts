import type { Box } from '../page/frames.ts';
import type { Rule } from '../page/grids.ts';
import { pageContent } from './page-content.ts';
import { paintedPaths } from './painted-paths.ts';
import { rulesOfPaths } from './rules.ts';
import { smallShapes } from './small-shapes.ts';

/** Drawn shapes of a page that help to read its text: possible list marks, and lines between cells. */
export interface DrawnShapes {
  marks: readonly Box[];
  rules: readonly Rule[];
}

/** Finds the shapes that pages draw, by object number of the page; cached by page. */
export function drawnShapes(bytes: Uint8Array): (page: { object: number }) => DrawnShapes {
  const known = new Map<number, DrawnShapes>();
  return ({ object }) => {
    const before = known.get(object);
    if (before) return before;
    const paths = paintedPaths(pageContent(bytes, object));
    const shapes = { marks: smallShapes(paths), rules: rulesOfPaths(paths) };
    known.set(object, shapes);
    return shapes;
  };
}
