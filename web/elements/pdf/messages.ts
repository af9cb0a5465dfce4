import type { Citation } from '../../../src/sources/records/schema.ts';

/** What the viewer of a page shows of a PDF: the data of the link that opens it, as JSON. */
export interface PdfLink {
  /** The name of the file. */
  name: string;
  /** The page that it is opened at, counted from 1. */
  page: number;
  /** The page that the passage ends on. */
  lastPage: number;
  /** The places to mark, as citations have them; [] for none. */
  boxes: NonNullable<Citation['boxes']>;
  /** The passage, which is looked for in the text of its pages where there are no boxes; "" for none. */
  quote: string;
}

/** The first message to the frame, with a port: what to show. */
export interface OpenRequest extends PdfLink {
  /** Of the whole file, in bytes. */
  length: number;
  /** How the file begins; all of it if it is short. */
  beginning: Uint8Array<ArrayBuffer>;
}

/** What the frame sends through its port. It comes from where a hostile file was read: nothing of it is trusted. */
export type FromFrame =
  /** Bytes [begin, end) of the file. */
  | { kind: 'range'; id: number; begin: number; end: number }
  /** A file of PDF.js: what the characters of a font mean, a font, a decoder of images. */
  | { kind: 'library'; id: number; name: string }
  /** The page that is in view. */
  | { kind: 'at'; page: number; pages: number }
  /** The page that was asked for is drawn. */
  | { kind: 'ready' }
  | { kind: 'problem' }
  | { kind: 'close' };

/** What the frame receives through its port. */
export type ToFrame =
  /** The answer to a request; without bytes where they cannot be read. */
  | { kind: 'bytes'; id: number; bytes?: Uint8Array<ArrayBuffer> }
  | { kind: 'go'; page: number }
  | { kind: 'zoom'; step: -1 | 0 | 1 };
