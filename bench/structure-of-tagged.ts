import {
  addHeading,
  addItem,
  addRows,
  emptyStructure,
  gridOf,
  type SpanningCell,
  type Structure,
} from './structure.ts';

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
