import type { CodeLine } from './page/code-lines.ts';
import type { Box } from './page/frames.ts';
import type { Run } from './page/lines.ts';

/** A block of a document, before font sizes are mapped to heading levels. */
export interface PdfBlock {
  kind: 'text' | 'item' | 'table' | 'picture' | 'code';
  /** Empty for a table and for code; for a picture a run without words, with its address. */
  runs: Run[];
  /** For a table; else empty. */
  rows: Run[][][];
  size: number;
  /** Whether the last line reaches the end of the column, so that the block may continue elsewhere. */
  isFull: boolean;
  /** The level of a heading that is known as one; 0 for what is known as none; undefined if its size decides. */
  level?: number;
  /** For an item: how far it begins from the left edge of its column, in points. */
  indent?: number;
  /** For an item of a tagged PDF: how many lists are around its own. */
  depth?: number;
  /** For an item of a tagged PDF: whether it has a mark or number of its own. */
  isMarked?: boolean;
  /** For an item of a tagged PDF: whether it is the rest of one, below a list that stands in that. */
  isRest?: boolean;
  /** The numbers of the targets of links that it is. */
  targets?: number[];
  /** For a caption: the pictures that it belongs to. */
  pictures?: PdfBlock[];
  /** For a table: where its rows are; else undefined. */
  row_places?: Place[];
  /** For a table without tags: from where to where the texts of its columns reach. */
  columns?: { x: number; right: number }[];
  /** For code: its lines. */
  code?: PlacedCode[];
  /** For a table of a tagged PDF: its number on the page. */
  table?: number;
  /** For a table of a tagged PDF: how many lines each of its cells has. */
  cell_lines?: number[][];
  /** For a table of a tagged PDF: how many rows of headers it begins with. */
  head_rows?: number;
  /** Where it is on the pages, in reading order: several places if it continues in another column. */
  places: Place[];
}

/** A rectangle on a page (counted from 1), in the frame of most of its text. */
export interface Place extends Box {
  page: number;
}

/** A line of code, and its height on its page. */
export interface PlacedCode extends CodeLine {
  y: number;
}
