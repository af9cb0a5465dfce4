import { Type } from 'typebox';

/** The number of a block or page, or points on a page. */
export const Coordinate = Type.Integer({ minimum: 0, maximum: 2 ** 20 });

/** The rectangles of one block of a PDF: PageRange's `boxes`. */
export const Boxes = Type.Array(Type.Array(Coordinate));
