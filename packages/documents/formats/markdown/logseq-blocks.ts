import { Fences } from '@ibid/markdown/dialects/fences.ts';

/** A property on a line of its own, without the mark of a list item. */
interface BlockProperty {
  name: string;
  value: string;
  /** The index of the line. */
  at: number;
  text: string;
}

/** A list item with properties. */
export interface Block {
  /** The index of its first line, and the indentation and mark in front of its words. */
  at: number;
  mark: string;
  /** The words of the first line; "" if it is empty or a property. */
  content: string;
  properties: BlockProperty[];
  /** The index of the last line of its first paragraph; -1 if the block begins with anything else. */
  end: number;
}

const ITEM = /^([ \t]*)-(?:[ \t]+(.*))?$/;
const PROPERTY = /^[ \t]*([A-Za-z][\w./-]{0,99})::(?:[ \t]+(.*))?$/;
/** Lines that end a paragraph or are not part of one. */
const NO_PARAGRAPH = /^[ \t]*(?:$|[-+*][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|[>|<]|\$\$)/;
const HEADING = /^#{1,6}[ \t]/;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Whether a value is an id as Logseq assigns it to pages and blocks. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/**
 * Properties of Logseq's own features, such as `collapsed` and `template`. A page does not show them: an `id` with a
 * UUID becomes an anchor, all others are listed as losses.
 */
const BUILT_IN =
  /^(?:id|collapsed|heading|background-color|template|template-including-parent|created-at|updated-at|ls-type|(?:hl|query|card)-[\w-]+|logseq\.[\w.-]+)$/i;

export function isBuiltIn(name: string): boolean {
  return BUILT_IN.test(name);
}

/** Finds the blocks that have properties, and the indexes of lines of code. */
export function blocksIn(lines: readonly string[], from: number): { blocks: Block[]; code: ReadonlySet<number> } {
  const blocks: Block[] = [];
  const code = new Set<number>();
  const fences = new Fences();
  let open: Block | undefined;
  let indent = '';
  /** The part of the open block that the next line may continue. */
  let part: 'properties' | 'paragraph' | 'none' = 'none';
  for (let at = from; at < lines.length; at += 1) {
    const text = (lines[at] ?? '').trimEnd();
    if (fences.takes(text)) {
      code.add(at);
      part = 'none';
      continue;
    }
    const [item, before = '', content = ''] = ITEM.exec(text) ?? [];
    if (item !== undefined) {
      const property = propertyOf(content, at);
      indent = before;
      open = {
        at,
        mark: text.slice(0, text.length - content.length),
        content: property ? '' : content,
        properties: [],
        end: -1,
      };
      if (property) open.properties.push(property);
      if (open.content !== '' && (HEADING.test(content) || !NO_PARAGRAPH.test(content))) open.end = at;
      blocks.push(open);
      part = 'properties';
      continue;
    }
    const isInside = text.startsWith(indent) && /^[ \t]/.test(text.slice(indent.length));
    const property = part === 'properties' && isInside ? propertyOf(text, at) : undefined;
    if (!open || !isInside || part === 'none') part = 'none';
    else if (property) open.properties.push(property);
    else if (NO_PARAGRAPH.test(text) || HEADING.test(open.content) || (open.content !== '' && open.end < 0))
      part = 'none';
    else {
      open.end = at;
      part = 'paragraph';
    }
  }
  return { blocks: blocks.filter(({ properties }) => properties.length > 0), code };
}

function propertyOf(text: string, at: number): BlockProperty | undefined {
  const [line, name, value = ''] = PROPERTY.exec(text) ?? [];
  return line === undefined || name === undefined ? undefined : { name, value: value.trim(), at, text: line.trim() };
}
