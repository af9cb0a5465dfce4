import type { Node, Nodes, Root, RootContent } from 'mdast';
import { formulaLines } from '../dialects/formula-lines.ts';

/** Makes the tree of a part of a text, of which these lines, counted from 1, begin formulas. */
type ParsePart = (markdown: string, formulas: ReadonlySet<number>) => Root;

/** Parses texts, of which it parses only the blocks that it has not parsed lately. */
export interface BlockParser {
  /** The tree that `parsePart` makes of the whole text. The caller may change it. */
  parse(markdown: string, parsePart: ParsePart): Root;
}

export interface BlockCache {
  /** For the texts of a wiki. How long a text takes does not tell what texts other wikis have. */
  of(wiki_id: string): BlockParser;
}

/** A text with the lines in it that begin formulas, which hangs on all of the text around it. */
interface Part {
  text: string;
  formulas: ReadonlySet<number>;
}

/** Blocks whose part stands alone: no text before or after it changes what they are. */
interface Unit extends Part {
  wiki_id: string;
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
    const key = keyOf(unit);
    if (recent.get(key)?.wiki_id === unit.wiki_id) return;
    characters += unit.text.length;
    if (characters > maxCharacters / 2) {
      older = recent;
      recent = new Map();
      characters = unit.text.length;
    }
    recent.set(key, unit);
  }

  function find(wiki_id: string, part: Part): Unit | undefined {
    const key = keyOf(part);
    const unit = recent.get(key) ?? older.get(key);
    if (unit?.wiki_id !== wiki_id) return undefined;
    keep(unit);
    return unit;
  }

  const of = (wiki_id: string): BlockParser => ({
    parse(markdown, parsePart) {
      const isWhole = markdown.length > MAX_TEXT || IS_WHOLE.test(markdown) || !markdown.isWellFormed();
      const formulas = formulaLines(markdown);
      if (isWhole) return parsePart(markdown, formulas);
      const parts = divide(markdown, formulas);
      const found = parts.map((part) => find(wiki_id, part));
      const units = unitsOf(parts, found, parsePart) ?? unitsOf(parts, [], parsePart) ?? [];
      for (const { isKept, ...unit } of units) if (isKept) keep({ ...unit, wiki_id });
      return joined(markdown, units);
    },
  });
  return { of };
}

/** No text that is divided has the character between. */
function keyOf({ text, formulas }: Part): string {
  return formulas.size === 0 ? text : `${text}\0${[...formulas].join()}`;
}

function divide(markdown: string, formulas: ReadonlySet<number>): Part[] {
  const parts: Part[] = [];
  let [start, line] = [0, 1];
  const add = (end: number) => {
    const text = markdown.slice(start, end);
    parts.push({ text, formulas: linesWithin(formulas, line, text) });
    if (formulas.size > 0) line += linesIn(text);
    start = end;
  };
  for (const { index, 0: gap } of markdown.matchAll(BEGINNING)) add(index + gap.length);
  add(markdown.length);
  return parts;
}

/** Those of the lines that are in a text which begins in this one, counted from its beginning. */
function linesWithin(lines: ReadonlySet<number>, first: number, text: string): ReadonlySet<number> {
  if (lines.size === 0) return lines;
  const last = first + linesIn(text);
  return new Set([...lines].filter((line) => line >= first && line <= last).map((line) => line - first + 1));
}

/** `isKept`: it was parsed now, and ends where its text does. */
type Parsed = Omit<Unit, 'wiki_id'> & { isKept: boolean };

/** The units of a text. undefined: a block that was not found goes on in those that were. */
function unitsOf(
  parts: readonly Part[],
  found: readonly (Unit | undefined)[],
  parsePart: ParsePart,
): Parsed[] | undefined {
  const units: Parsed[] = [];
  for (let i = 0; i < parts.length; ) {
    const known = found[i];
    if (known) {
      units.push({ ...known, isKept: false });
      i += 1;
      continue;
    }
    const first = i;
    while (i < parts.length && !found[i]) i += 1;
    const parsed = parseTogether(parts.slice(first, i), parsePart);
    if (i < parts.length && parsed.at(-1)?.isKept === false) return undefined;
    units.push(...parsed);
  }
  return units;
}

/** Parses neighbouring parts as one: a block that goes on behind a part makes one unit of it and the next. */
function parseTogether(parts: readonly Part[], parsePart: ParsePart): Parsed[] {
  // A string of its own, because a part of the whole text would keep all of it in memory. In UTF-8 it is the same: it is well-formed.
  const markdown = Buffer.from(parts.map(({ text }) => text).join('')).toString();
  const formulas = joinedFormulas(parts);
  const { children } = parsePart(markdown, formulas);
  const units: Parsed[] = [];
  let [line, offset, end, from, to] = [1, 0, 0, 0, 0];
  for (const [i, { text }] of parts.entries()) {
    end += text.length;
    while (to < children.length && startOf(children[to]) < end) to += 1;
    const last = to > from ? children[to - 1] : undefined;
    const isLast = i === parts.length - 1;
    if (!isLast && last && endOf(last) > end) continue;
    const own = markdown.slice(offset, end);
    units.push({
      text: own,
      formulas: linesWithin(formulas, line, own),
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

function joinedFormulas(parts: readonly Part[]): ReadonlySet<number> {
  const formulas = new Set<number>();
  let line = 0;
  for (const part of parts) {
    for (const each of part.formulas) formulas.add(line + each);
    line += linesIn(part.text);
  }
  return formulas;
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
