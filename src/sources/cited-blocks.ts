import { hash } from 'node:crypto';
import { type Sql, sql } from '../db/sql.ts';

/** What a page shows of one source, as it was compiled; lists of the same length, a block each. */
export interface CitationRow {
  page_id: string;
  source_id: string;
  starts: number[];
  ends: number[];
  first_pages: number[];
  last_pages: number[];
  first_lines: number[];
  last_lines: number[];
  /** 64 hexadecimal digits each, one behind the other. */
  hashes: string;
}

/** A block of a page, and the place in the source's text (UTF-16 units) that it shows. */
interface CitedBlock {
  block: number;
  start: number;
  end: number;
  /** 0 where the source has no pages. */
  first_page: number;
  last_page: number;
  /** 0 where the file has no lines, or the block is not from it. */
  first_line: number;
  last_line: number;
  sha256: string;
  quote: string;
  /** Whether the source's text still has this hash there. */
  verified: boolean;
}

/** The columns of a CitationRow from a row `c` of page_sources. */
export const citationColumns: Sql = sql`
  c.page_id, c.source_id, c.starts, c.ends, c.first_pages, c.last_pages, c.first_lines, c.last_lines,
  encode(c.hashes, 'hex') as hashes`;

/**
 * The blocks that a page was compiled to from a source, each with its hash computed again. `passage` is the source's text from
 * place `from` on, at least as far as the last block.
 */
export function citedBlocks(row: CitationRow, passage: string, from = 0): CitedBlock[] {
  return row.starts.map((start, i) => {
    const end = row.ends[i] ?? start;
    const sha256 = row.hashes.slice(64 * i, 64 * (i + 1));
    const quote = passage.slice(start - from, end - from);
    const pages = { first_page: row.first_pages[i] ?? 0, last_page: row.last_pages[i] ?? 0 };
    const lines = { first_line: row.first_lines[i] ?? 0, last_line: row.last_lines[i] ?? 0 };
    return { block: i, start, end, ...pages, ...lines, sha256, quote, verified: hash('sha256', quote) === sha256 };
  });
}

/**
 * The blocks that a page still shows: those that a person has changed or removed since are theirs. `page_text` is the
 * page's text as it is now.
 */
export function shownBlocks(blocks: readonly CitedBlock[], page_text: string): CitedBlock[] {
  // Blocks are mostly where they were, one behind the other; who moved one is found all the same.
  let at = 0;
  return blocks.filter(({ quote, verified }) => {
    // What the source says now is not what the page was made from.
    if (!verified) return true;
    let found = page_text.indexOf(quote, at);
    if (found < 0) found = page_text.indexOf(quote);
    if (found < 0) return false;
    at = found + quote.length;
    return true;
  });
}

/** What of a text of this length is in none of the blocks: [start, end), in order. */
export function gapsBetween(blocks: readonly { start: number; end: number }[], length: number): [number, number][] {
  const gaps: [number, number][] = [];
  let at = 0;
  for (const { start, end } of [...blocks].sort((a, b) => a.start - b.start)) {
    if (start > at) gaps.push([at, start]);
    at = Math.max(at, end);
  }
  if (length > at) gaps.push([at, length]);
  return gaps;
}
