import type { Citation } from '../src/sources/schema.ts';
import type { Api } from './api.ts';
import type { Block } from './blocks.ts';
import { readUpTo } from './paging.ts';

const CITATIONS_PER_REQUEST = 500;

/** The citations of a page, in the order of its sources, `max` of them at most. `page` is its API path. */
export function loadCitations(api: Api, page: string, max: number): Promise<Citation[]> {
  return readUpTo(api, `${page}/citations?limit=${CITATIONS_PER_REQUEST}`, max);
}

/**
 * Matches citations to the blocks of a page: by their text, and blocks of the same text by order. A citation whose source
 * has changed belongs behind the block of the citation before it. `others` match no block.
 */
export function traceBlocks(blocks: readonly Block[], citations: readonly Citation[]) {
  const blocksByText = Map.groupBy(blocks.keys(), (i) => withoutSpaces(blocks[i]?.text ?? ''));
  const traces = new Map<number, Citation>();
  const others: Citation[] = [];
  const blockOf = new Map<Citation, number>();
  let next = 0;
  const assign = (citation: Citation, block: number) => {
    traces.set(block, citation);
    blockOf.set(citation, block);
    next = block + 1;
  };
  for (const citation of citations) {
    if (!citation.verified) continue;
    const free = blocksByText.get(withoutSpaces(citation.quote))?.filter((i) => !traces.has(i)) ?? [];
    const block = free.find((i) => i >= next) ?? free[0];
    if (block === undefined) others.push(citation);
    else assign(citation, block);
  }
  for (const [i, citation] of citations.entries()) {
    if (citation.verified) continue;
    const before = citations[i - 1];
    const block =
      citation.block === 0 ? 0 : before && before.block === citation.block - 1 ? (blockOf.get(before) ?? -2) + 1 : -1;
    if (block >= 0 && block < blocks.length && !traces.has(block)) assign(citation, block);
    else others.push(citation);
  }
  return { traces, others };
}

/** White space is left out of comparisons: HTML and extracted text differ in it. */
function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, '');
}
