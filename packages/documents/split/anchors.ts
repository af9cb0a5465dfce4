import { anchorOf, uniqueId } from '@ibid/markdown/safe-addresses.ts';
import { joinBlocks } from './pieces.ts';
import type { LongPart } from './references.ts';

/** In a part, `#fragment` refers to `#anchor` of another part. Both are ids of elements, with the prefix of pages. */
export interface FragmentLink {
  fragment: string;
  part: number;
  anchor: string;
}

/** The start of links within the page. Documents without such links skip the rest. */
const ANY_FRAGMENT = /(?:\(\s*<?|["'=]|\]:\s*<?)#/;

const FRAGMENT = /#((?:[^\s()<>"'|\\]|\\[\s\S])+)/g;

/** Returns for each part the links to headings that are in other parts, or have another id, after splitting. */
export function fragmentLinks(parts: readonly LongPart[], markdown: string): FragmentLink[][] {
  if (!ANY_FRAGMENT.test(markdown)) return [];
  const whole = new Map<string, { part: number; anchor: string }>();
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  for (const { part, own } of idsInOrder(parts))
    whole.set(uniqueId(own.base, ids, counts), { part, anchor: own.anchor });
  return parts.map(({ blocks }, i) => {
    const links = new Map<string, FragmentLink>();
    for (const [, written = ''] of joinBlocks(blocks, markdown).matchAll(FRAGMENT)) {
      const fragment = fragmentId(written.replace(/\\(?=[!-/:-@[-`{-~])/g, ''));
      const target = whole.get(fragment);
      if (target && (target.part !== i || target.anchor !== fragment)) links.set(fragment, { fragment, ...target });
    }
    return [...links.values()];
  });
}

/** Returns the id that a fragment refers to. */
export function fragmentId(fragment: string): string {
  try {
    return anchorOf(decodeURIComponent(fragment));
  } catch {
    // An invalid percent-encoding is kept as text.
    return anchorOf(fragment);
  }
}

/** Lists all ids in the order of the document: the id in the document and the id in the part. */
function* idsInOrder(parts: readonly LongPart[]) {
  for (const [part, { blocks }] of parts.entries()) {
    const ids = new Set<string>();
    const counts = new Map<string, number>();
    for (const base of blocks.flatMap((block) => block.ids)) {
      if (base !== '') yield { part, own: { base, anchor: uniqueId(base, ids, counts) } };
    }
  }
}
