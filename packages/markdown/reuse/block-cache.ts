import type { Node, Nodes, Root, RootContent } from 'mdast';
import { formulaLines } from '../dialects/formula-lines.ts';

/** Parses part of a text. `formulas`: the lines that begin formulas, counted from 1. */
type ParsePart = (markdown: string, formulas: ReadonlySet<number>) => Root;

/** Parses texts, and reuses the cached trees of blocks that were parsed recently. */
export interface BlockParser {
  /** Returns the same tree as `parsePart` of the whole text. The caller may change the tree. */
  parse(markdown: string, parsePart: ParsePart): Root;
}

export interface BlockCache {
  /**
   * Returns the parser for a wiki. Wikis share no entries, so that the time of a parse reveals nothing about another
   * wiki's texts.
   */
  of(wiki_id: string): BlockParser;
}

/** Part of a text, with the lines in it that begin formulas. These depend on the whole text, not on the part alone. */
interface Part {
  text: string;
  formulas: ReadonlySet<number>;
}

/** Blocks of a part that is parsed the same whatever text surrounds it. */
interface Unit extends Part {
  wiki_id: string;
  nodes: readonly RootContent[];
  /** Line and offset of the unit's text in the positions of `nodes`. */
  line: number;
  offset: number;
}

/** Longer texts are not cached: they would evict many others, and their trees are large. */
const MAX_TEXT = 2 ** 16;
/** About 100 pages of usual length, whose trees take some 10 MiB. */
const MAX_CHARACTERS = 2 ** 18;

/**
 * A line that begins a block whatever precedes it, unless a fence, HTML or formula is open: it follows an empty line
 * and cannot continue a list.
 */
const BEGINNING = /\n[ \t]*\n(?=[\p{L}#>"'`([!|_]|\*\*[^\s*])/gu;

const BEFORE_BEGINNING = /\n[ \t]*\n$/;

/**
 * Texts that are parsed as a whole: definitions and footnotes change how other blocks are parsed, and the positions
 * here do not account for the other matches.
 */
const IS_WHOLE = /\]:|[\r\ufeff\0]|^(?:---|\+\+\+)/;

/** Blocks that end at an empty line followed by a BEGINNING, unless they include that empty line. */
const ENDS = new Set<RootContent['type']>(
  'paragraph heading list blockquote thematicBreak table code math'.split(' ') as RootContent['type'][],
);

/**
 * Opens a cache in memory. Most blocks of a text stay the same between two saves or previews, and parsing is most of
 * the cost of rendering.
 */
export function openBlockCache(maxCharacters = MAX_CHARACTERS): BlockCache {
  // Two generations: entries not used since the last rotation are evicted by the next one.
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

/** The separator is unambiguous because texts with NUL are parsed as a whole. */
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

/** Returns the `lines` within a text that begins at line `first`, counted from the beginning of that text. */
function linesWithin(lines: ReadonlySet<number>, first: number, text: string): ReadonlySet<number> {
  if (lines.size === 0) return lines;
  const last = first + linesIn(text);
  return new Set([...lines].filter((line) => line >= first && line <= last).map((line) => line - first + 1));
}

/** `isKept`: cache the unit, because it was parsed just now and is complete. */
type Parsed = Omit<Unit, 'wiki_id'> & { isKept: boolean };

/** Returns the units of a text; undefined if an uncached block continues into a cached one. */
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

/** Parses consecutive parts together. Parts that share a block become one unit. */
function parseTogether(parts: readonly Part[], parsePart: ParsePart): Parsed[] {
  // Copies the text, because a slice would keep the whole text in memory. The round trip through UTF-8 is lossless: the
  // text is well-formed.
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

/**
 * Tells whether the last block of a text is parsed the same whatever follows it. `isLast`: no text was parsed after it.
 */
function isEnded(last: RootContent | undefined, text: string, offset: number, isLast: boolean): boolean {
  // Such a text is only found at the end of another text.
  if (!last || !BEFORE_BEGINNING.test(text)) return true;
  // An open fence includes the empty line.
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

/** Copies a node, moved down by this many lines and UTF-16 units. */
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
