import type { Node, Nodes, Root, RootContent } from 'mdast';

/** Parses texts, of which it parses only the blocks that it has not parsed lately. */
export interface BlockParser {
  /** The tree that `parsePart` makes of the whole text. The caller may change it. */
  parse(markdown: string, parsePart: (markdown: string) => Root): Root;
}

export interface BlockCache {
  /** For the texts of a wiki. How long a text takes does not tell what texts other wikis have. */
  of(wiki_id: string): BlockParser;
}

/** Blocks whose text stands alone: no text before or after it changes what they are. */
interface Unit {
  wiki_id: string;
  text: string;
  nodes: readonly RootContent[];
  /** Where the text begins in the positions of the nodes. */
  line: number;
  offset: number;
}

/** A longer text keeps others out, and its tree is large. */
const MAX_TEXT = 2 ** 16;
/** About 100 pages of usual length, whose trees take some 10 MiB. */
const MAX_CHARACTERS = 2 ** 18;

/**
 * A line that begins a block whatever the text before it is, unless a fence, HTML or formula is open: it follows an empty line,
 * and no list goes on with it.
 */
const BEGINNING = /\n[ \t]*\n(?=[\p{L}#>"'`([!|_]|\*\*[^\s*])/gu;

const BEFORE_BEGINNING = /\n[ \t]*\n$/;

/** A definition or footnote changes what other blocks are; the others are written in ways that the positions here do not count. */
const IS_WHOLE = /\]:|[\r\ufeff\0]|^(?:---|\+\+\+)/;

/** What an empty line and a line of BEGINNING end, unless it takes that empty line. */
const ENDS = new Set<RootContent['type']>(
  'paragraph heading list blockquote thematicBreak table code math'.split(' ') as RootContent['type'][],
);

/**
 * Opens a cache in memory. Between two saves or previews of a text nearly all of its blocks stay as they were, and parsing is most
 * of what rendering costs.
 */
export function openBlockCache(maxCharacters = MAX_CHARACTERS): BlockCache {
  // What was not found since the last change of generations is forgotten with the next one.
  let recent = new Map<string, Unit>();
  let older = new Map<string, Unit>();
  let characters = 0;

  function keep(unit: Unit): void {
    if (recent.get(unit.text)?.wiki_id === unit.wiki_id) return;
    characters += unit.text.length;
    if (characters > maxCharacters / 2) {
      older = recent;
      recent = new Map();
      characters = unit.text.length;
    }
    recent.set(unit.text, unit);
  }

  function find(wiki_id: string, text: string): Unit | undefined {
    const unit = recent.get(text) ?? older.get(text);
    if (unit?.wiki_id !== wiki_id) return undefined;
    keep(unit);
    return unit;
  }

  const of = (wiki_id: string): BlockParser => ({
    parse(markdown, parsePart) {
      const isWhole = markdown.length > MAX_TEXT || IS_WHOLE.test(markdown) || !markdown.isWellFormed();
      if (isWhole) return parsePart(markdown);
      const texts = divide(markdown);
      const found = texts.map((text) => find(wiki_id, text));
      const units = unitsOf(texts, found, parsePart) ?? unitsOf(texts, [], parsePart) ?? [];
      for (const { isKept, ...unit } of units) if (isKept) keep({ ...unit, wiki_id });
      return joined(markdown, units);
    },
  });
  return { of };
}

function divide(markdown: string): string[] {
  const texts: string[] = [];
  let start = 0;
  for (const { index, 0: gap } of markdown.matchAll(BEGINNING)) {
    texts.push(markdown.slice(start, index + gap.length));
    start = index + gap.length;
  }
  texts.push(markdown.slice(start));
  return texts;
}

/** `isKept`: it was parsed now, and ends where its text does. */
type Parsed = Omit<Unit, 'wiki_id'> & { isKept: boolean };

/** The units of a text. undefined: a block that was not found goes on in those that were. */
function unitsOf(
  texts: readonly string[],
  found: readonly (Unit | undefined)[],
  parsePart: (markdown: string) => Root,
): Parsed[] | undefined {
  const units: Parsed[] = [];
  for (let i = 0; i < texts.length; ) {
    const known = found[i];
    if (known) {
      units.push({ ...known, isKept: false });
      i += 1;
      continue;
    }
    const first = i;
    while (i < texts.length && !found[i]) i += 1;
    const parsed = parseTogether(texts.slice(first, i), parsePart);
    if (i < texts.length && parsed.at(-1)?.isKept === false) return undefined;
    units.push(...parsed);
  }
  return units;
}

/** Parses neighbouring texts as one: a block that goes on behind a text makes one unit of it and the next. */
function parseTogether(texts: readonly string[], parsePart: (markdown: string) => Root): Parsed[] {
  // A string of its own, because a part of the whole text would keep all of it in memory. In UTF-8 it is the same: it is well-formed.
  const markdown = Buffer.from(texts.join('')).toString();
  const { children } = parsePart(markdown);
  const units: Parsed[] = [];
  let [line, offset, end, from, to] = [1, 0, 0, 0, 0];
  for (const [i, text] of texts.entries()) {
    end += text.length;
    while (to < children.length && startOf(children[to]) < end) to += 1;
    const last = to > from ? children[to - 1] : undefined;
    const isLast = i === texts.length - 1;
    if (!isLast && last && endOf(last) > end) continue;
    const own = markdown.slice(offset, end);
    units.push({
      text: own,
      nodes: children.slice(from, to),
      line,
      offset,
      isKept: isEnded(last, own, offset, isLast),
    });
    line += linesIn(own);
    [offset, from] = [end, to];
  }
  return units;
}

/** Whether the last block of a text is the same wherever the text stands. `isLast`: nothing was parsed behind it. */
function isEnded(last: RootContent | undefined, text: string, offset: number, isLast: boolean): boolean {
  // Such a text is only found at the end of another one.
  if (!last || !BEFORE_BEGINNING.test(text)) return true;
  // A fence that is open takes the empty line, too.
  return endOf(last) <= offset + text.trimEnd().length && (!isLast || ENDS.has(last.type));
}

function joined(markdown: string, units: readonly Parsed[]): Root {
  const children: RootContent[] = [];
  let [line, offset] = [1, 0];
  for (const unit of units) {
    for (const node of unit.nodes) children.push(moved(node, line - unit.line, offset - unit.offset));
    line += linesIn(unit.text);
    offset += unit.text.length;
  }
  const end = { line, column: markdown.length - markdown.lastIndexOf('\n'), offset: markdown.length };
  return { type: 'root', children, position: { start: { line: 1, column: 1, offset: 0 }, end } };
}

/** A copy of a node that many lines and UTF-16 units further down. */
function moved<T extends Nodes>(node: T, lines: number, units: number): T {
  const { position, data }: Node = node;
  const copy: T = { ...node };
  if (position) {
    const { start, end } = position;
    (copy as Node).position = {
      start: { line: start.line + lines, column: start.column, offset: (start.offset ?? 0) + units },
      end: { line: end.line + lines, column: end.column, offset: (end.offset ?? 0) + units },
    };
  }
  if (data) {
    const { destination } = data;
    copy.data = { ...data, ...(destination && { destination: [destination[0] + units, destination[1] + units] }) };
  }
  if ('children' in copy) copy.children = copy.children.map((child: Nodes) => moved(child, lines, units)) as never;
  return copy;
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function startOf(node: Node | undefined): number {
  return node?.position?.start.offset ?? 0;
}

function endOf(node: Node): number {
  return node.position?.end.offset ?? 0;
}
