import { Fences } from '@ibid/markdown/dialects/fences.ts';

/** A property, and the line that it is alone in, without the mark of an item. */
interface BlockProperty {
  name: string;
  value: string;
  /** The index of the line. */
  at: number;
  text: string;
}

/** An item of a list that has properties. */
export interface Block {
  /** The index of its first line, and what that has before its words. */
  at: number;
  mark: string;
  /** The words of the first line; "" if it has none, or a property. */
  content: string;
  properties: BlockProperty[];
  /** The index of the line that its first paragraph ends in; -1 for a block that begins with anything else. */
  end: number;
}

const ITEM = /^([ \t]*)-(?:[ \t]+(.*))?$/;
const PROPERTY = /^[ \t]*([A-Za-z][\w./-]{0,99})::(?:[ \t]+(.*))?$/;
/** Lines that end a paragraph, or are none. */
const NO_PARAGRAPH = /^[ \t]*(?:$|[-+*][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|[>|<]|\$\$)/;
const HEADING = /^#{1,6}[ \t]/;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** The name of a page or block as Logseq gives it. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** Properties that Logseq writes for itself and does not show. */
const BUILT_IN =
  /^(?:id|collapsed|heading|background-color|template|template-including-parent|created-at|updated-at|ls-type|(?:hl|query|card)-[\w-]+|logseq\.[\w.-]+)$/i;

export function isBuiltIn(name: string): boolean {
  return BUILT_IN.test(name);
}

/** The blocks with properties, and the indexes of the lines that are code. */
export function blocksIn(lines: readonly string[], from: number): { blocks: Block[]; code: ReadonlySet<number> } {
  const blocks: Block[] = [];
  const code = new Set<number>();
  const fences = new Fences();
  let open: Block | undefined;
  let indent = '';
  /** Whether the first paragraph of the open block, or its properties, may go on. */
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
