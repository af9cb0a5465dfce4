/** What a structure tree (tagged PDF) says about a text: the element of the document that it belongs to. */
export interface TaggedElement {
  kind: 'heading' | 'text' | 'item' | 'cell';
  /** The level of a heading, from 1; 0 for what is none. */
  level: number;
  /** For an item: how many lists are around its own, and whether it has a mark or number. */
  depth: number;
  isMarked: boolean;
  /** For an item: whether it is the rest of one, below a list that stands in that. */
  isRest: boolean;
  /** For a cell: which table, row and cell of the page it is; else 0. */
  table: number;
  row: number;
  cell: number;
  /** For a cell: whether it is a header. */
  isHeader: boolean;
}

/** A node of the library's tree; contents have an id. */
interface TreeNode {
  role?: string;
  type?: string;
  id?: string;
  children?: readonly TreeNode[];
}

/** The elements of a page in their order, and those of its contents by id. */
export interface TaggedPage {
  elements: readonly TaggedElement[];
  byContent: ReadonlyMap<string, TaggedElement>;
}

/** Elements that are written as one block. */
const BLOCKS = new Set(['P', 'Caption', 'Note', 'FENote', 'BlockQuote', 'TOCI', 'Formula', 'Code', 'Figure', 'Title']);
/** Elements that hold others. */
const CONTAINERS = new Set([
  'Root',
  'Document',
  'DocumentFragment',
  'Part',
  'Art',
  'Sect',
  'Div',
  'Aside',
  'TOC',
  'Index',
  'L',
  'Private',
]);

/** The elements of a page's structure tree. */
export function taggedPage(tree: TreeNode): TaggedPage {
  const elements: TaggedElement[] = [];
  const byContent = new Map<string, TaggedElement>();
  const position = { table: 0, row: 0, cell: 0 };
  let lists = 0;
  const begin = (kind: TaggedElement['kind'], level = 0): TaggedElement => {
    const place = kind === 'cell' ? position : { table: 0, row: 0, cell: 0 };
    const element = {
      kind,
      level,
      depth: Math.max(0, lists - 1),
      isMarked: false,
      isRest: false,
      isHeader: false,
      ...place,
    };
    elements.push(element);
    return element;
  };
  /** `open`: a paragraph without an element of its own, which goes on until a block begins. */
  const walk = (
    node: TreeNode,
    inside: TaggedElement | undefined,
    open: { text?: TaggedElement | undefined },
  ): void => {
    if (node.id !== undefined && node.type === 'content') {
      open.text ??= inside ?? begin('text');
      byContent.set(node.id, inside ?? open.text);
      return;
    }
    if (node.role === 'Lbl' && inside) inside.isMarked ||= hasContent(node);
    if (node.role === 'L') lists += 1;
    const element = elementOf(node, inside, position, begin);
    const isBlock = element !== inside || isContainer(node);
    const own = isBlock ? {} : open;
    let around = element;
    for (const child of node.children ?? []) {
      walk(child, around, own);
      if (child.role === 'L' && around?.kind === 'item') {
        const { isMarked } = around;
        around = Object.assign(begin('item'), { isMarked, isRest: true });
      }
    }
    if (node.role === 'L') lists -= 1;
    if (isBlock) open.text = undefined;
  };
  walk(tree, undefined, {});
  return { elements, byContent };
}

/** The element that begins with a node, or the one that it is inside of. */
function elementOf(
  { role = '' }: TreeNode,
  inside: TaggedElement | undefined,
  position: { table: number; row: number; cell: number },
  begin: (kind: TaggedElement['kind'], level?: number) => TaggedElement,
): TaggedElement | undefined {
  if (inside?.kind === 'cell') {
    if (role !== 'TD' && role !== 'TH') return inside;
  }
  const [, level] = /^H([1-6])?$/.exec(role) ?? [];
  if (/^H[1-6]?$/.test(role)) return begin('heading', Number(level ?? 1));
  if (role === 'Title') return begin('heading', 1);
  if (role === 'LI') return begin('item');
  if (role === 'Table') position.table += 1;
  if (role === 'TR') {
    position.row += 1;
    position.cell = 0;
  }
  if (role === 'TD' || role === 'TH') {
    position.cell += 1;
    return Object.assign(begin('cell'), { isHeader: role === 'TH' });
  }
  if (role === 'Table' || role === 'TR') return undefined;
  return BLOCKS.has(role) && inside === undefined ? begin('text') : inside;
}

/** Whether any of an element is on the page: of one that goes over several pages, all elements are in the tree of each. */
function hasContent({ type, children = [] }: TreeNode): boolean {
  return type === 'content' || children.some(hasContent);
}

/** Browsers write both blocks and words as NonStruct: blocks have no content of their own. */
function isContainer({ role = '', children = [] }: TreeNode): boolean {
  return CONTAINERS.has(role) || (role === 'NonStruct' && !children.some(({ type }) => type === 'content'));
}
