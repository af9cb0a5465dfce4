import type { Citation } from '../src/sources/records/schema.ts';
import type { Api } from './api.ts';
import type { Block } from './blocks.ts';
import { readUpTo } from './paging.ts';

const CITATIONS_PER_REQUEST = 500;

/** The citations of a page, in the order of its sources, `max` of them at most. `page` is its API path. */
export function loadCitations(api: Api, page: string, max: number): Promise<Citation[]> {
  return readUpTo(api, `${page}/citations?limit=${CITATIONS_PER_REQUEST}`, max);
}

/**
 * The citations by the block of the page that says what they say, or that people edited. A citation whose source has
 * changed belongs there too; `others` are of no block. Which block it is was found by the API.
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
