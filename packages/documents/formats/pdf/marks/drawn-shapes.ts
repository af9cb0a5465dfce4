import type { Box } from '../page/frames.ts';
import type { Rule } from '../page/grids.ts';
import { pageContent } from './page-content.ts';
import { paintedPaths } from './painted-paths.ts';
import { rulesOfPaths } from './rules.ts';
import { smallShapes } from './small-shapes.ts';

/** What of a page's drawing tells of its text: shapes that may be marks of lists, and lines between cells. */
export interface DrawnShapes {
  marks: readonly Box[];
  rules: readonly Rule[];
}

/** What the pages of a file draw, by their object numbers; a page is read once. */
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
