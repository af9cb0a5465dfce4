import { OPS } from 'unpdf/pdfjs';
import type { Place } from '../pdf-block.ts';

/** A transformation matrix of PDF, [a, b, c, d, e, f]: (x, y) becomes (ax + cy + e, bx + dy + f). */
export type Matrix = readonly [number, number, number, number, number, number];

/** A picture that a page paints: its size in pixels and its position. */
export interface Painted {
  /** The name of the picture in PDF.js, or the decoded picture. */
  image: string | DecodedImage;
  width: number;
  height: number;
  /** Maps the unit square, in which PDF paints pictures, to the page. */
  matrix: Matrix;
  /** The fill colour of an image mask (#rrggbb); otherwise "". */
  color: string;
  place: Omit<Place, 'page'>;
}

interface State {
  matrix: Matrix;
  color: string;
}

const BLACK = '#000000';

/** Interprets the operators of a page to find the positions of pictures. */
export function paintedImages(operators: readonly number[], args: readonly unknown[]): Painted[] {
  const painted: Painted[] = [];
  const saved: State[] = [];
  let state: State = { matrix: [1, 0, 0, 1, 0, 0], color: BLACK };
  /** The number of open groups since the start of a soft mask. */
  let masked = 0;

  const restore = () => {
    state = saved.pop() ?? state;
  };
  const transform = (matrix: unknown) => {
    if (isMatrix(matrix)) state = { ...state, matrix: product(state.matrix, matrix) };
  };
  const paint = (image: string | DecodedImage, width: number, height: number, color: string) => {
    const { matrix } = state;
    if (masked === 0) painted.push({ image, width, height, matrix, color, place: placeOf(matrix) });
  };

  for (const [i, operator] of operators.entries()) {
    const [first, second, third] = (args[i] ?? []) as readonly unknown[];
    if (operator === OPS.save) saved.push(state);
    else if (operator === OPS.restore) restore();
    else if (operator === OPS.transform) transform(args[i]);
    else if (operator === OPS.paintFormXObjectBegin) {
      saved.push(state);
      transform(first);
    } else if (operator === OPS.paintFormXObjectEnd) restore();
    else if (operator === OPS.beginGroup) {
      saved.push(state);
      if (masked > 0 || (first as { smask?: unknown }).smask) masked += 1;
    } else if (operator === OPS.endGroup) {
      restore();
      masked = Math.max(masked - 1, 0);
    } else if (operator === OPS.setFillRGBColor) state = { ...state, color: String(first) };
    else if (operator === OPS.paintImageXObject) paint(String(first), Number(second), Number(third), '');
    else if (operator === OPS.paintInlineImageXObject) {
      const image = first as DecodedImage;
      paint(image, image.width, image.height, '');
    } else if (operator === OPS.paintImageMaskXObject) {
      const { data, width, height } = first as { data: string; width: number; height: number };
      paint(data, width, height, /^#[\da-f]{6}$/i.test(state.color) ? state.color : BLACK);
    }
  }
  return painted;
}

function isMatrix(value: unknown): value is Matrix {
  return value != null && (value as ArrayLike<number>).length === 6;
}

/** Combines two transformations, applying `inner` first. */
export function product([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

function placeOf([a, b, c, d, e, f]: Matrix): Omit<Place, 'page'> {
  const xs = [e, e + a, e + c, e + a + c];
  const ys = [f, f + b, f + d, f + b + d];
  return { x: Math.min(...xs), right: Math.max(...xs), top: Math.max(...ys), bottom: Math.min(...ys) };
}

/** A picture decoded by PDF.js. */
export interface DecodedImage {
  width: number;
  height: number;
  /** An ImageKind; undefined for an image mask: one bit per pixel, 0 where the colour is painted. */
  kind?: number;
  data: Uint8Array;
  /** The object reference in the PDF, "12R" or, with a generation, "12R1". */
  ref?: string;
}
