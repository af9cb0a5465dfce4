import type { CodeLine } from './page/code-lines.ts';
import type { Box } from './page/frames.ts';
import type { Run } from './page/lines.ts';

/** A block of a document, before font sizes are mapped to heading levels. */
export interface PdfBlock {
  kind: 'text' | 'item' | 'table' | 'picture' | 'code';
  /** Empty for tables and code; for a picture, a run with its address and no text. */
  runs: Run[];
  /** For a table; otherwise empty. */
  rows: Run[][][];
  size: number;
  /** Whether the last line reaches the end of the column, so that the block may continue elsewhere. */
  isFull: boolean;
  /** The level of a known heading; 0 if it is known not to be a heading; undefined if its font size decides. */
  level?: number;
  /** For an item: its indent from the left edge of its column, in points. */
  indent?: number;
  /** For an item of a tagged PDF: the number of lists around its own list. */
  depth?: number;
  /** For an item of a tagged PDF: whether it has a mark or number of its own. */
  isMarked?: boolean;
  /** For an item of a tagged PDF: whether it continues an item after a nested list. */
  isRest?: boolean;
  /** The numbers of the link targets at this block. */
  targets?: number[];
  /** For a caption: its pictures. */
  pictures?: PdfBlock[];
  /** For a table: the places of its rows; otherwise undefined. */
  row_places?: Place[];
  /** For a table without tags: the horizontal extents of its columns. */
  columns?: { x: number; right: number }[];
  code?: PlacedCode[];
  /** For a table of a tagged PDF: its number on the page. */
  table?: number;
  /** For a table of a tagged PDF: the number of lines in each cell. */
  cell_lines?: number[][];
  /** For a table of a tagged PDF: the number of header rows at its beginning. */
  head_rows?: number;
  /** Its places on pages in reading order; several if it continues in another column. */
  places: Place[];
}

/** A rectangle on a page (counted from 1), in the frame in which most of its text runs from left to right. */
export interface Place extends Box {
  page: number;
}

/** A line of code with its y coordinate on its page. */
export interface PlacedCode extends CodeLine {
  y: number;
}
