import type { Citation } from '../../../src/sources/records/schema.ts';

/** A link to a passage of a PDF, stored in the link element as JSON. */
export interface PdfLink {
  name: string;
  /** The page to open, counted from 1. */
  page: number;
  lastPage: number;
  /** The areas to mark, as citations have them; [] for none. */
  boxes: NonNullable<Citation['boxes']>;
  /** The passage, found by its text if there are no boxes; "" for none. */
  quote: string;
}

/** The first message to the frame, sent with a port: the file to show. */
export interface OpenRequest extends PdfLink {
  /** The length of the whole file, in bytes. */
  length: number;
  /** The beginning of the file; the whole file if it is short. */
  beginning: Uint8Array<ArrayBuffer>;
}

/**
 * Messages from the frame through its port. The frame has read a possibly hostile file, so the panel trusts none of
 * them.
 */
export type FromFrame =
  /** Requests bytes [begin, end) of the file. */
  | { kind: 'range'; id: number; begin: number; end: number }
  /** Requests a file of PDF.js: a character map, a font, a decoder of images. */
  | { kind: 'library'; id: number; name: string }
  /** The page that is in view. */
  | { kind: 'at'; page: number; pages: number }
  /** The requested page is drawn. */
  | { kind: 'ready' }
  | { kind: 'problem' }
  | { kind: 'close' };

/** Messages to the frame through its port. */
export type ToFrame =
  /** The answer to a request; without bytes if they cannot be read. */
  | { kind: 'bytes'; id: number; bytes?: Uint8Array<ArrayBuffer> }
  | { kind: 'go'; page: number }
  | { kind: 'zoom'; step: -1 | 0 | 1 };
