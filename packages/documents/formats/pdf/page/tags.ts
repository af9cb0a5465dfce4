/** An element in the structure tree of a tagged PDF. */
export interface TaggedElement {
  kind: 'heading' | 'text' | 'item' | 'cell';
  /** The level of a heading, from 1; 0 for other elements. */
  level: number;
  /** For an item: the number of lists around its own list, and whether it has a mark or number. */
  depth: number;
  isMarked: boolean;
  /** For an item: whether it continues an item after a nested list. */
  isRest: boolean;
  /** For a cell: the numbers of its table, row and cell on the page; otherwise 0. */
  table: number;
  row: number;
  cell: number;
  /** For a cell: whether it is a header. */
  isHeader: boolean;
}

/** A node of the tree in PDF.js; only content nodes have an id. */
interface TreeNode {
  role?: string;
  type?: string;
  id?: string;
  children?: readonly TreeNode[];
}

/** The elements of a page in order, and by id of their content. */
export interface TaggedPage {
  elements: readonly TaggedElement[];
  byContent: ReadonlyMap<string, TaggedElement>;
}

/** Roles of elements that become a block. */
const BLOCKS = new Set(['P', 'Caption', 'Note', 'FENote', 'BlockQuote', 'TOCI', 'Formula', 'Code', 'Figure', 'Title']);
/** Roles that contain other elements. */
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

/** Collects the elements of a page's structure tree. */
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
  /** `open`: a paragraph for content without an element; it ends where a block begins. */
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

/** Returns the element that begins at a node, or else the element around it. */
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

/**
 * Whether a part of an element is on the page. If an element spans several pages, the tree of each page has all of its
 * nodes.
 */
function hasContent({ type, children = [] }: TreeNode): boolean {
  return type === 'content' || children.some(hasContent);
}

/** Browsers write both blocks and words as NonStruct; only blocks have no content of their own. */
function isContainer({ role = '', children = [] }: TreeNode): boolean {
  return CONTAINERS.has(role) || (role === 'NonStruct' && !children.some(({ type }) => type === 'content'));
}
