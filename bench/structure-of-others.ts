import { HAS_HEADS } from './content-of-html.ts';
import { withDefinitionLists } from './raw-definitions.ts';
import { addHeading, addItem, addRows, emptyStructure, gridOf, type Structure } from './structure.ts';

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
        addItem(structure, depth, ordered, textOf(paragraphsOf(item, format)));
        walk(item, depth + 1);
      }
    };
    const addDefinitions = (groups: [term: unknown, definitions: unknown[][]][]) => {
      if (isOfLines(groups)) return;
      for (const [term, definitions] of groups) {
        const [only = [], ...more] = definitions;
        // pandoc makes one term of those that share no meaning, as in an index.
        if (definitions.length === 0) {
          for (const line of textOf(term).split('\n')) addItem(structure, depth, false, line);
          continue;
        }
        addItem(
          structure,
          depth,
          false,
          `${textOf(term)}\n${more.length === 0 ? textOf(paragraphsOf(only, format)) : ''}`,
        );
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

/**
 * Whether each term of a list of definitions has meanings of one line each; what has neither is not counted. A term without words in
 * its meaning shares that of the next one.
 */
function isOfLines(groups: readonly [term: unknown, definitions: unknown[][]][]): boolean {
  const isLine = ([block, ...more]: unknown[]) =>
    more.length === 0 && /^(?:Para|Plain)$/.test((block as PandocNode)?.t) && !has(block, /^LineBreak$/);
  return groups.every(([term, definitions], i) => {
    const filled = definitions.filter((definition) => textOf(definition).trim() !== '');
    if (filled.length === 0) return textOf(term).trim() === '' || i + 1 < groups.length;
    return filled.every(isLine);
  });
}

/** The paragraphs of an item itself, also those in a table for the layout. What Word indents is a quotation to pandoc. */
function paragraphsOf(blocks: readonly unknown[], format: string): unknown[] {
  return blocks.flatMap((block) => {
    const { t: type, c: content } = block as PandocNode;
    if (type === 'BlockQuote') return paragraphsOf(content as unknown[], format);
    if (type === 'Div') return paragraphsOf((content as unknown[])[1] as unknown[], format);
    if (type === 'Table' && !isTable(content as unknown[], format))
      return rowsOfTable(content as unknown[]).flatMap((row) =>
        row.flatMap((cell) => paragraphsOf(cell.blocks, format)),
      );
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
  if (classes.includes(HAS_HEADS)) return rows.length > 1;
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
