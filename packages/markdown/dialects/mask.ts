/** What the text of a dialect has and its page does not. Offsets are UTF-16 units of the text. */
export interface Hidden {
  what: 'comment' | 'code' | 'mark';
  start: number;
  end: number;
}

/** A box that is written between `:::`, between shortcodes or under `!!!`, by the line of its head, counted from 1. */
export interface Box {
  /** "" for a tab, whose content follows its title, and for a definition, whose term stands before it. */
  word: string;
  title: string;
  fold: '' | '-' | '+';
  isDefinition?: boolean;
  /** The line that closes it; 0 where the content is indented. */
  closes: number;
}

/**
 * What a tree must have where an edit is, for the edit to mean what it was made for: no code, HTML or formula (lines), words (comment), a
 * comment of HTML (markup), a tag (tag), the address of a link (destination), the head or end of a box (box).
 */
export type Place = 'lines' | 'comment' | 'markup' | 'tag' | 'destination' | 'box';

/** A part of the text in other words of the same length. */
export interface Edit {
  start: number;
  text: string;
  place: Place;
  /** Edits of one group are undone together: the offset at which the first one was found. */
  group: number;
}

export type Grouped<T> = T & Pick<Edit, 'group'>;

export interface Mask {
  /** In the order of the text, without overlaps. */
  edits: readonly Edit[];
  boxes: ReadonlyMap<number, Grouped<Box>>;
  hidden: readonly Grouped<Hidden>[];
}

/** Stands for a slash in a tag. */
export const SLASH = '\ufdde';

/** Stands for the letters of what is hidden: a noncharacter of Unicode, so that it cannot be mistaken for a word of the text. */
export const FILLER = '\ufddf';

/** The mask without some groups of its edits. */
export function withoutGroups({ edits, boxes, hidden }: Mask, groups: ReadonlySet<number>): Mask {
  const isKept = ({ group }: Pick<Edit, 'group'>) => !groups.has(group);
  return {
    edits: edits.filter(isKept),
    boxes: new Map([...boxes].filter(([, box]) => isKept(box))),
    hidden: hidden.filter(isKept),
  };
}

/** The text in the words of a mask. */
export function masked(markdown: string, { edits }: Mask): string {
  let text = '';
  let from = 0;
  for (const edit of edits) {
    text += markdown.slice(from, edit.start) + edit.text;
    from = edit.start + edit.text.length;
  }
  return text + markdown.slice(from);
}

/** Spaces instead of letters. */
export function blank(text: string): string {
  return text.replace(/[^\r\n]/g, ' ');
}

/** A filler for each letter: an empty line would end the paragraph. */
export function filled(text: string): string {
  return text.replace(/[^\r\n]/g, FILLER);
}

/** The head or end of a box in other words. */
export function boxEdit(start: number, text: string): Edit {
  return { start, text, place: 'box', group: start };
}
