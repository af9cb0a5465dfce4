import { hash } from 'node:crypto';
import type { Rendered } from '../pages/plain-text.ts';
import type { PageRange } from './extract/extract.ts';

/** Where the blocks of a page come from, each with the place and the hash of the text that it shows; parallel lists. */
export interface Citations {
  /** [start, end) in the text of the source, in UTF-16 units. */
  starts: number[];
  ends: number[];
  /** Of a document that has pages (PDF), counted from 1; else empty. */
  first_pages: number[];
  last_pages: number[];
  /** The SHA-256 of each text, one behind the other, in hexadecimal digits. */
  hashes: string;
}

/** The blocks of a page that shows the whole of its source: they stand where they stand in the source's text. */
export function citeBlocks({ text, blocks }: Rendered, block_pages: readonly PageRange[] = []): Citations {
  const all: PageRange = {
    first_page: block_pages[0]?.first_page ?? 0,
    last_page: block_pages.reduce((last, { last_page }) => Math.max(last, last_page), 0),
  };
  // A text that is shown as it is, is one block.
  const isWhole = blocks.at(-1)?.part === block_pages.length - 1;
  const pages = blocks.map(({ part }) => (isWhole ? (block_pages[part] ?? all) : all));
  const hasPages = block_pages.length > 0;
  return {
    starts: blocks.map(({ start }) => start),
    ends: blocks.map(({ end }) => end),
    first_pages: hasPages ? pages.map(({ first_page }) => first_page) : [],
    last_pages: hasPages ? pages.map(({ last_page }) => last_page) : [],
    hashes: blocks.map(({ start, end }) => hash('sha256', text.slice(start, end))).join(''),
  };
}
