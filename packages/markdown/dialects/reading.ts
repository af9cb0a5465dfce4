import type { Node, Nodes, Root, Text } from 'mdast';
import { type Edit, FILLER } from './mask.ts';

/** A node without children, in UTF-16 units of the text: [start, end). */
interface Leaf {
  start: number;
  end: number;
  type: Nodes['type'];
  /** Indented code, in which the parser includes trailing blank lines. */
  isIndented: boolean;
}

interface Places {
  leaves: Leaf[];
  /** Offsets at which the addresses of links and pictures begin. */
  destinations: number[];
  /** Links whose address contains a filler: they were autolinks, without brackets. */
  wrong: Leaf[];
}

/** Checks the edits of a mask against the tree. Linear in the size of the tree and the text. */
export class Reading {
  private readonly places: Places = { leaves: [], destinations: [], wrong: [] };
  private readonly text: string;

  /** `text`: the masked text that was parsed. */
  constructor(tree: Root, text: string) {
    this.text = text;
    collect(tree, this.places);
    this.places.leaves.sort((a, b) => a.start - b.start);
  }

  /**
   * Returns the groups of edits that the tree does not confirm: they are inside code, HTML or a formula, or made no
   * box. `placed`: the groups whose box was made.
   */
  misread(edits: readonly Edit[], placed: ReadonlySet<number>): Set<number> {
    const groups = new Set<number>();
    for (const [edit, leaf, markup] of this.withLeaves(edits))
      if (!isMeant(edit, leaf, this.places, markup, placed)) groups.add(edit.group);
    return groups;
  }

  /** Returns the groups of undone edits that are inside code, HTML or a formula. */
  literal(edits: readonly Edit[]): Set<number> {
    const groups = new Set<number>();
    for (const [edit, leaf, markup] of this.withLeaves(edits)) {
      const isTag = edit.place === 'tag' && leaf?.type === 'html' && markup.isOutside(leaf, edit.start);
      if (leaf && leaf.type !== 'text' && !isTag) groups.add(edit.group);
    }
    return groups;
  }

  private *withLeaves(edits: readonly Edit[]): Generator<[Edit, Leaf | undefined, Markup]> {
    const { leaves } = this.places;
    const markup = new Markup(this.text);
    let at = 0;
    for (const edit of edits) {
      while (at < leaves.length && (leaves[at] as Leaf).end <= edit.start) at += 1;
      const leaf = leaves[at];
      yield [edit, leaf && leaf.start < edit.start + edit.text.length ? leaf : undefined, markup];
    }
  }
}

function isMeant(
  { start, text, place, group }: Edit,
  leaf: Leaf | undefined,
  { destinations, wrong }: Places,
  markup: Markup,
  placed: ReadonlySet<number>,
): boolean {
  const end = start + text.length;
  switch (place) {
    case 'box':
      return placed.has(group);
    case 'lines':
      return leaf === undefined || (leaf.isIndented && markup.isBlank(start, leaf.end));
    case 'comment':
      return leaf?.type === 'text' && leaf.end >= end && !wrong.some((each) => each.start <= start && start < each.end);
    case 'markup':
      return leaf?.type === 'html' && markup.hasOnlyComments(leaf.start, start);
    case 'tag':
      return leaf?.type === 'html' && leaf.end >= end && markup.isOutside(leaf, start);
    case 'destination':
      return destinations.some((at) => start <= at && at < end);
  }
}

function collect(node: Nodes, places: Places): void {
  const { position, data }: Node & Pick<Text, 'data'> = node;
  if (data?.destination) places.destinations.push(data.destination[0]);
  const [start, end] = [position?.start.offset ?? 0, position?.end.offset ?? 0];
  const leaf = { start, end, type: node.type, isIndented: node.type === 'code' && !node.data?.isFenced };
  if (node.type === 'link' && node.url.includes(FILLER)) places.wrong.push(leaf);
  if ('children' in node) for (const child of node.children) collect(child, places);
  else if (position) places.leaves.push(leaf);
}

/** Comments and whole tags. Neither can begin inside the other. */
const TOKEN = /<!--[\s\S]*?(?:-->|$)|<\/?[a-z](?:[^"'>]|"[^"]*"|'[^']*')*>/gi;
const ONLY_COMMENTS = /^(?:[\s>]|<!--[\s\S]*?-->)*$/;

/** Checks ranges of raw HTML in the masked text. Offsets must be passed in ascending order. */
class Markup {
  private readonly text: string;
  private start = -1;
  private tokens: { start: number; end: number }[] = [];

  constructor(text: string) {
    this.text = text;
  }

  isBlank(from: number, to: number): boolean {
    return this.text.slice(from, to).trim() === '';
  }

  hasOnlyComments(from: number, to: number): boolean {
    return ONLY_COMMENTS.test(this.text.slice(from, to));
  }

  /** Tells whether an offset in the text, inside a leaf of HTML, is outside of that leaf's comments and tags. */
  isOutside({ start, end }: Leaf, at: number): boolean {
    if (this.start !== start) {
      this.start = start;
      this.tokens = [...this.text.slice(start, end).matchAll(TOKEN)]
        .map(({ index, 0: token }) => ({ start: start + index, end: start + index + token.length }))
        .reverse();
    }
    while ((this.tokens.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= at) this.tokens.pop();
    const next = this.tokens.at(-1);
    return next === undefined || next.start >= at;
  }
}
