import type { Citation } from '../src/sources/schema.ts';
import type { Api } from './api.ts';
import type { Block } from './blocks.ts';
import { readUpTo } from './paging.ts';

const CITATIONS_PER_REQUEST = 500;

/** What a page shows of its sources, in the order of the sources; of a very long one the first `most`. */
export function loadCitations(api: Api, page: string, max: number): Promise<Citation[]> {
  return readUpTo(api, `${page}/citations?limit=${CITATIONS_PER_REQUEST}`, max);
}

/**
 * Which block shows which citation: by what it says, and of several that say the same by their order. A source that says
 * something else now is found by its place behind the block before. `others` are shown by no block.
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

/** A block is known again by its letters: how many spaces stand between them is not the same in HTML and in a text. */
function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, '');
}
