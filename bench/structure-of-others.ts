import { withDefinitionLists } from './raw-definitions.ts';
import { addHeading, addItem, addRows, emptyStructure, type Structure } from './structure.ts';

/** A node of pandoc's tree. */
interface PandocNode {
  t: string;
  c: unknown;
}

/**
 * The structure of a document as pandoc's tree has it, with what Markdown has no form for in the one that ours takes: a list of
 * definitions with blocks in it is a list, a table with blocks in its cells that cells of Markdown cannot have is no table.
 */
export function structureOfPandoc(blocks: unknown, format: string): Structure {
  const structure = emptyStructure();
  const walk = (node: unknown, depth: number): void => {
    if (Array.isArray(node)) for (const each of node) walk(each, depth);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { t: type, c: content } = node as PandocNode;
    const parts = content as unknown[];
    const addItems = (items: unknown[][], ordered: boolean) => {
      for (const item of items) {
        addItem(structure, depth, ordered, textOf(paragraphsOf(item)));
        walk(item, depth + 1);
      }
    };
    const addDefinitions = (groups: [term: unknown, definitions: unknown[][]][]) => {
      if (isOfLines(groups)) return;
      for (const [term, definitions] of groups) {
        const [only = [], ...more] = definitions;
        addItem(structure, depth, false, `${textOf(term)}\n${more.length === 0 ? textOf(paragraphsOf(only)) : ''}`);
        if (more.length > 0) walk({ t: 'BulletList', c: definitions }, depth + 1);
        else walk(only, depth + 1);
      }
    };
    if (type === 'Note') return;
    if (type === 'Header') addHeading(structure, parts[0] as number, textOf(parts[2]));
    else if (type === 'BulletList') addItems(parts as unknown[][], false);
    else if (type === 'OrderedList') addItems(parts[1] as unknown[][], true);
    else if (type === 'DefinitionList' && format !== 'docx') addDefinitions(parts as [unknown, unknown[][]][]);
    else if (type === 'Table' && isTable(parts, format)) addTable(structure, parts);
    else walk(content, depth);
  };
  walk(withDefinitionLists(blocks), 0);
  return structure;
}

/** Whether each term of a list of definitions has meanings of one line each; what has neither is not counted. */
function isOfLines(groups: readonly [term: unknown, definitions: unknown[][]][]): boolean {
  const isLine = ([block, ...more]: unknown[]) =>
    more.length === 0 && /^(?:Para|Plain)$/.test((block as PandocNode)?.t);
  return groups.every(
    ([term, definitions]) =>
      textOf([term, definitions]).trim() === '' || (definitions.length > 0 && definitions.every(isLine)),
  );
}

/** The paragraphs of an item itself. What Word indents is a quotation to pandoc. */
function paragraphsOf(blocks: readonly unknown[]): unknown[] {
  return blocks.flatMap((block) => {
    const { t: type, c: content } = block as PandocNode;
    if (type === 'BlockQuote') return paragraphsOf(content as unknown[]);
    if (type === 'Div') return paragraphsOf((content as unknown[])[1] as unknown[]);
    // Terms with lines are paragraphs of ours.
    if (type === 'DefinitionList' && isOfLines(content as [unknown, unknown[][]][])) return [block];
    return /^(?:Para|Plain)$/.test(type) ? [block] : [];
  });
}

/**
 * Whether a table has rows and columns of values. In HTML one is for the layout that says so, has headings, code or tables in it, or
 * is without heads and has one row or column; one that leads through a site has only links, in up to two rows.
 */
function isTable(parts: unknown[], format: string): boolean {
  const rows = rowsOfTable(parts);
  const cells = rows.flat().flatMap(({ blocks }) => blocks);
  if (has(cells, /^Table$/)) return false;
  if (format === 'docx' || format === 'epub') return true;
  const [[, classes, attributes], , , head] = parts as [
    [string, string[], [string, string][]],
    unknown,
    unknown,
    PandocPart,
  ];
  const { role = '', summary = '' } = Object.fromEntries(attributes);
  if (
    /^(?:none|presentation)$/.test(role) ||
    /^navigation\b/i.test(summary) ||
    classes.some((name) => /^nav/.test(name))
  )
    return false;
  if (head[1].some(([, row]) => row.some(([, , , , blocks]) => textOf(blocks).trim() !== ''))) return true;
  const letters = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '').length;
  if (rows.length <= 2 && letters(linkedText(cells)) === letters(textOf(cells))) return false;
  return (
    !has(cells, /^(?:Header|CodeBlock|BlockQuote|HorizontalRule)$/) &&
    rows.length > 1 &&
    rows.some((row) => row.reduce((sum, { columnSpan }) => sum + columnSpan, 0) > 1)
  );
}

function has(node: unknown, types: RegExp): boolean {
  if (Array.isArray(node)) return node.some((each) => has(each, types));
  if (typeof node !== 'object' || node === null) return false;
  const { t: type, c: content } = node as PandocNode;
  return types.test(type ?? '') || has(content, types);
}

function linkedText(node: unknown): string {
  if (Array.isArray(node)) return node.map(linkedText).join('');
  if (typeof node !== 'object' || node === null) return '';
  const { t: type, c: content } = node as PandocNode;
  return type === 'Link' ? textOf(node) : linkedText(content);
}

type PandocRow = [attributes: unknown, cells: [unknown, unknown, rows: number, columns: number, blocks: unknown][]];
type PandocPart = [attributes: unknown, rows: PandocRow[]];
type PandocBody = [attributes: unknown, headers: unknown, head: PandocRow[], rows: PandocRow[]];

function addTable(structure: Structure, parts: unknown[]): void {
  const cells = rowsOfTable(parts).map((row) =>
    row.map(({ blocks, ...spans }) => ({ ...spans, text: textOf(blocks) })),
  );
  addRows(structure, gridOf(cells));
}

function rowsOfTable([, , , head, bodies, foot]: unknown[]) {
  const rows = [
    ...(head as PandocPart)[1],
    ...(bodies as PandocBody[]).flatMap(([, , own, others]) => [...own, ...others]),
    ...(foot as PandocPart)[1],
  ];
  return rows.map(([, row]) =>
    row.map(([, , rowSpan, columnSpan, blocks]) => ({ rowSpan, columnSpan, blocks: blocks as unknown[] })),
  );
}

interface SpanningCell {
  rowSpan: number;
  columnSpan: number;
  text: string;
}

/** Rows with an empty text where a cell of another row or column reaches. */
function gridOf(rows: readonly (readonly SpanningCell[])[]): string[][] {
  const grid: string[][] = rows.map(() => []);
  for (const [row, cells] of rows.entries()) {
    let column = 0;
    for (const { rowSpan, columnSpan, text } of cells) {
      while (grid[row]?.[column] !== undefined) column += 1;
      for (let i = 0; i < rowSpan; i += 1) {
        for (let k = 0; k < columnSpan; k += 1) {
          const line = grid[row + i];
          if (line) line[column + k] = i + k === 0 ? text : '';
        }
      }
      column += columnSpan;
    }
  }
  return grid.map((line) => Array.from(line, (text) => text ?? ''));
}

function textOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(textOf).join('');
  if (typeof node !== 'object' || node === null) return '';
  const { t: type, c: content } = node as PandocNode;
  const parts = content as unknown[];
  if (type === 'Str') return String(content);
  if (type === 'Space' || type === 'SoftBreak') return ' ';
  if (type === 'LineBreak') return '\n';
  if (type === 'Code' || type === 'CodeBlock') return String(parts[1]);
  if (type === 'RawInline' || type === 'RawBlock' || type === 'Note' || type === 'Math') return '';
  if (/^(?:Link|Image|Span|Quoted|Cite)$/.test(type)) return textOf(parts[1]);
  if (type === 'Header') return `\n${textOf(parts[2])}\n`;
  if (type === 'OrderedList' || type === 'Div') return `\n${textOf(parts[1])}\n`;
  if (/^(?:Para|Plain|BulletList|BlockQuote)$/.test(type)) return `\n${textOf(content)}\n`;
  return content === undefined ? '' : textOf(content);
}

/** An element of a structure tree as `pdfinfo -struct-text` prints it. */
interface Tagged {
  role: string;
  rowSpan: number;
  columnSpan: number;
  children: (Tagged | string)[];
}

/** The structure tree of a tagged PDF; undefined if there are no elements in what pdfinfo says. */
export function structureOfTagged(printed: string): Structure | undefined {
  const root = treeOf(printed);
  if (root.children.length === 0) return undefined;
  const structure = emptyStructure();
  const walk = (node: Tagged | string, depth: number): void => {
    if (typeof node === 'string') return;
    const level = /^H([1-6])?$/.exec(node.role)?.[1] ?? '1';
    if (/^H[1-6]?$/.test(node.role)) addHeading(structure, Number(level), wordsIn(node));
    else if (node.role === 'L') for (const item of node.children) addTaggedItem(structure, item, depth, walk);
    else if (node.role === 'Table') addRows(structure, gridOf(rowsOf(node)));
    else if (!/^(?:Note|Artifact)$/.test(node.role)) for (const child of node.children) walk(child, depth);
  };
  walk(root, 0);
  return structure;
}

function treeOf(printed: string): Tagged {
  const root: Tagged = { role: '', rowSpan: 1, columnSpan: 1, children: [] };
  const open = [{ indent: -1, element: root }];
  for (const line of printed.split('\n')) {
    const [, spaces = '', text] = /^( *)(?:"(.*?)"?$)?/.exec(line) ?? [];
    while ((open.at(-1)?.indent ?? -1) >= spaces.length) open.pop();
    const { element: parent } = open.at(-1) ?? { element: root };
    if (text !== undefined) parent.children.push(text);
    const [, attribute, value] = /^ *\/(RowSpan|ColSpan) (\d+)/.exec(line) ?? [];
    if (attribute === 'RowSpan') parent.rowSpan = Number(value);
    if (attribute === 'ColSpan') parent.columnSpan = Number(value);
    const [, role] = /^ *([A-Za-z]\w*)(?= |$|:)/.exec(line) ?? [];
    if (role === undefined || role === 'Object') continue;
    const element: Tagged = { role, rowSpan: 1, columnSpan: 1, children: [] };
    parent.children.push(element);
    open.push({ indent: spaces.length, element });
  }
  return root;
}

function addTaggedItem(
  structure: Structure,
  item: Tagged | string,
  depth: number,
  walk: (node: Tagged | string, depth: number) => void,
): void {
  if (typeof item === 'string') return;
  // Some programs write a list within a list beside its items.
  if (item.role === 'L') return walk(item, depth + 1);
  const label = item.children.find((child) => typeof child !== 'string' && child.role === 'Lbl');
  const ordered = label !== undefined && /[\p{L}\p{N}]/u.test(wordsIn(label));
  addItem(
    structure,
    depth,
    ordered,
    item.children.map((child) => (child === label ? '' : wordsIn(child, 'L'))).join(' '),
  );
  for (const child of item.children) walk(child, depth + 1);
}

function rowsOf(table: Tagged): SpanningCell[][] {
  return table.children.flatMap((row) => {
    if (typeof row === 'string') return [];
    if (row.role !== 'TR') return row.role === 'Caption' ? [] : rowsOf(row);
    const cells = row.children.filter((cell) => typeof cell !== 'string' && /^T[DH]$/.test(cell.role)) as Tagged[];
    return [cells.map((cell) => ({ rowSpan: cell.rowSpan, columnSpan: cell.columnSpan, text: wordsIn(cell) }))];
  });
}

/** The words of an element, without those of elements of a role. */
function wordsIn(node: Tagged | string, without = ''): string {
  if (typeof node === 'string') return node;
  if (node.role === without) return '';
  return node.children.map((child) => wordsIn(child, without)).join(node.role === 'P' || node.role === 'L' ? ' ' : '');
}
