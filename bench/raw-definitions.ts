interface PandocNode {
  t: string;
  c: unknown;
}

/** Terms with their meanings, both as blocks. */
type Group = [term: unknown[], definitions: unknown[][]];

/**
 * The tree with the lists of definitions that pandoc leaves as tags of HTML: those that end with a term, as tables of contents
 * of DocBook do, and those that begin with a meaning.
 */
export function withDefinitionLists(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (!Array.isArray(node))
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withDefinitionLists(value)]));
  const { blocks } = read(node, 0, '');
  return blocks;
}

/** The blocks from `at` to the tag that ends them, and the index behind it. */
function read(nodes: readonly unknown[], at: number, end: string): { blocks: unknown[]; next: number } {
  const blocks: unknown[] = [];
  let next = at;
  while (next < nodes.length) {
    const tag = tagOf(nodes[next]);
    if (tag !== '' && tag === end) return { blocks, next: next + 1 };
    if (tag === 'dl') {
      const list = readList(nodes, next + 1);
      blocks.push(...list.loose);
      if (list.groups.length > 0) blocks.push({ t: 'DefinitionList', c: list.groups });
      next = list.next;
    } else {
      if (tag === '') blocks.push(withDefinitionLists(nodes[next]));
      next += 1;
    }
  }
  return { blocks, next };
}

/** `loose`: meanings before the first term, which are only indented. */
function readList(nodes: readonly unknown[], at: number): { groups: Group[]; loose: unknown[]; next: number } {
  const groups: Group[] = [];
  const loose: unknown[] = [];
  let next = at;
  while (next < nodes.length) {
    const tag = tagOf(nodes[next]);
    if (tag === '/dl') return { groups, loose, next: next + 1 };
    if (tag !== 'dt' && tag !== 'dd') {
      next += 1;
      continue;
    }
    const part = read(nodes, next + 1, `/${tag}`);
    const last = groups.at(-1);
    if (tag === 'dt') groups.push([part.blocks, []]);
    else if (last) last[1].push(part.blocks);
    else loose.push(...part.blocks);
    next = part.next;
  }
  return { groups, loose, next };
}

/** "dl", "/dt" and so on; "" for what is no such tag. */
function tagOf(node: unknown): string {
  const { t: type, c: content } = (node ?? {}) as Partial<PandocNode>;
  if (type !== 'RawBlock') return '';
  return /^<(\/?d[ltd])[\s>]/i.exec(String((content as unknown[])[1]))?.[1]?.toLowerCase() ?? '';
}
