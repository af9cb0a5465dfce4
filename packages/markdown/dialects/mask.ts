/** A range of the text, in UTF-16 units, that its page does not show. */
export interface Hidden {
  what: 'comment' | 'code' | 'mark';
  start: number;
  end: number;
}

/**
 * A box written between `:::`, between shortcodes or under `!!!`. Boxes are keyed by the line of their head, counted
 * from 1.
 */
export interface Box {
  /** "" for a tab, whose content follows its title, and for a definition, whose term precedes it. */
  word: string;
  title: string;
  fold: '' | '-' | '+';
  isDefinition?: boolean;
  /** The line that closes the box; 0 if its content is indented. */
  closes: number;
}

/**
 * The condition under which the tree confirms an edit:
 *
 * - lines: it is outside of code, HTML and formulas.
 * - comment: it is in words.
 * - markup: it is in an HTML comment.
 * - tag: it is in a tag.
 * - destination: it is in the address of a link or picture.
 * - box: a box was made from it.
 */
export type Place = 'lines' | 'comment' | 'markup' | 'tag' | 'destination' | 'box';

/** Replaces a part of the text with `text`, which has the same length. */
export interface Edit {
  start: number;
  text: string;
  place: Place;
  /** Edits of a group are undone together. Its number is the offset at which the group was found. */
  group: number;
}

export type Grouped<T> = T & Pick<Edit, 'group'>;

export interface Mask {
  /** In the order of the text, without overlaps. */
  edits: readonly Edit[];
  boxes: ReadonlyMap<number, Grouped<Box>>;
  hidden: readonly Grouped<Hidden>[];
}

/** Replaces a slash in a tag. */
export const SLASH = '\ufdde';

/** Replaces hidden characters: a Unicode noncharacter, which cannot be mistaken for part of the text. */
export const FILLER = '\ufddf';

export function withoutGroups({ edits, boxes, hidden }: Mask, groups: ReadonlySet<number>): Mask {
  const isKept = ({ group }: Pick<Edit, 'group'>) => !groups.has(group);
  return {
    edits: edits.filter(isKept),
    boxes: new Map([...boxes].filter(([, box]) => isKept(box))),
    hidden: hidden.filter(isKept),
  };
}

/** Applies the edits of a mask to its text. */
export function masked(markdown: string, { edits }: Mask): string {
  let text = '';
  let from = 0;
  for (const edit of edits) {
    text += markdown.slice(from, edit.start) + edit.text;
    from = edit.start + edit.text.length;
  }
  return text + markdown.slice(from);
}

/** Replaces all characters except line breaks with spaces. */
export function blank(text: string): string {
  return text.replace(/[^\r\n]/g, ' ');
}

/** Replaces all characters except line breaks with fillers. Spaces would make empty lines, which end a paragraph. */
export function filled(text: string): string {
  return text.replace(/[^\r\n]/g, FILLER);
}

export function boxEdit(start: number, text: string): Edit {
  return { start, text, place: 'box', group: start };
}
