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

/** One of them: where a block stands in the text of the source. */
export interface CitedPlace {
  start: number;
  end: number;
  /** Undefined where the source has no pages. */
  pages: PageRange | undefined;
  /** 64 hexadecimal digits. */
  hash: string;
}

export function placesOf({ starts, ends, first_pages, last_pages, hashes }: Citations): CitedPlace[] {
  return starts.map((start, i) => {
    const [first_page, last_page] = [first_pages[i], last_pages[i]];
    const pages = first_page === undefined || last_page === undefined ? undefined : { first_page, last_page };
    return { start, end: ends[i] ?? start, pages, hash: hashes.slice(64 * i, 64 * (i + 1)) };
  });
}

/** Either all of them have pages or none has. */
export function citationsOf(places: readonly CitedPlace[]): Citations {
  return {
    starts: places.map(({ start }) => start),
    ends: places.map(({ end }) => end),
    first_pages: places.flatMap(({ pages }) => pages?.first_page ?? []),
    last_pages: places.flatMap(({ pages }) => pages?.last_page ?? []),
    hashes: places.map((place) => place.hash).join(''),
  };
}

/** The blocks of a page that shows the whole of its source: they stand where they stand in the source's text. */
export function citeBlocks({ text, blocks }: Rendered, block_pages: readonly PageRange[] = []): Citations {
  const all: PageRange = {
    first_page: block_pages[0]?.first_page ?? 0,
    last_page: block_pages.reduce((last, { last_page }) => Math.max(last, last_page), 0),
  };
  // A text that is shown as it is, is one block.
  const isWhole = blocks.at(-1)?.part === block_pages.length - 1;
  return citationsOf(
    blocks.map(({ start, end, part }) => ({
      start,
      end,
      pages: block_pages.length === 0 ? undefined : ((isWhole ? block_pages[part] : undefined) ?? all),
      hash: hash('sha256', text.slice(start, end)),
    })),
  );
}
