import type { Citation } from '../src/sources/records/schema.ts';
import type { Api } from './api.ts';
import type { Block } from './blocks.ts';
import { readUpTo } from './paging.ts';

const CITATIONS_PER_REQUEST = 500;

/** Loads at most `max` citations of a page, in the order of its sources. `page` is its API path. */
export function loadCitations(api: Api, page: string, max: number): Promise<Citation[]> {
  return readUpTo(api, `${page}/citations?limit=${CITATIONS_PER_REQUEST}`, max);
}

/**
 * Groups citations by the block of the page that still says the same, or that people edited. A citation whose source
 * has changed belongs to its block too; `others` belong to no block. The API matched citations and blocks.
 */
export function traceBlocks(blocks: readonly Block[], citations: readonly Citation[]) {
  const traces = new Map<number, Citation>();
  const others: Citation[] = [];
  for (const citation of citations) {
    const { page_block } = citation;
    if (page_block in blocks && !traces.has(page_block)) traces.set(page_block, citation);
    else others.push(citation);
  }
  return { traces, others };
}
