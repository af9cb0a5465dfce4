import { visit } from '@ibid/markdown/parse-markdown.ts';
import type { Link, Root } from 'mdast';

/** Replaces [start, end) of a text, in UTF-16 units. Edits of one text do not overlap. */
export interface Edit {
  start: number;
  end: number;
  text: string;
  /** The new link, if `text` is one: `[…](`, its address and `)`. */
  link?: Link;
}

/**
 * Applies edits to a Markdown text. `tree` is the parsed text; the destinations of its links are moved accordingly.
 * Callers make all other changes to the tree.
 */
export function editText(markdown: string, tree: Root, edits: readonly Edit[]): string {
  const inOrder = [...edits].sort((a, b) => a.start - b.start);
  moveDestinations(tree, inOrder);
  return applyEdits(inOrder, markdown);
}

/** Applies ordered edits to a text. */
export function applyEdits(edits: readonly Edit[], text: string): string {
  if (edits.length === 0) return text;
  let result = '';
  let from = 0;
  for (const edit of edits) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + text.slice(from);
}

function moveDestinations(tree: Root, edits: readonly Edit[]): void {
  if (edits.length === 0) return;
  let longer = 0;
  const longerFrom = edits.map(({ start, end, text }) => ({ end, by: (longer += text.length - (end - start)) }));
  const moved = (place: number) => {
    let low = 0;
    for (let high = longerFrom.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((longerFrom[middle]?.end ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return place + (longerFrom[low - 1]?.by ?? 0);
  };
  visit(tree, ({ data }) => {
    if (data?.destination) data.destination = [moved(data.destination[0]), moved(data.destination[1])];
  });
  for (const { end, link } of edits) {
    if (!link) continue;
    const behind = moved(end) - 1;
    link.data = { destination: [behind - link.url.length, behind] };
  }
}
