/** A link of pandoc's tree: its id and those of the blocks that begin with it, its words and target. */
interface MarkedLink {
  node: unknown;
  ids: readonly string[];
  words: string;
  target: string;
}

const MARK = /^[[(]?(?:\d{1,4}|[ivxlcdm]{1,8}|[a-z]|\*{1,4}|[†‡§]{1,3})[\])]?$/i;

/**
 * The links of a tree that are only a number and lead to each other: the references of notes and the numbers that these
 * begin with, where a program says no more about them. A browser writes the numbers of our notes.
 */
export function pairedMarks(blocks: unknown): Set<unknown> {
  const links: MarkedLink[] = [];
  // The ids of blocks that have begun, whose first words may be the number of a note.
  const walk = (node: unknown, begun: readonly string[]): readonly string[] => {
    if (Array.isArray(node)) return node.reduce(walkNext, begun);
    if (typeof node !== 'object' || node === null) return begun;
    const { t: type, c: content } = node as { t: string; c: unknown };
    if (type === 'Str') return [];
    if (type === 'Link') {
      const [[id], words, [target]] = content as [[string], unknown, [string]];
      const text = wordsOf(words);
      if (MARK.test(text)) links.push({ node, ids: [...begun, id], words: text, target });
      return [];
    }
    const inner = type === 'Div' || type === 'Span' ? (content as [[string], unknown]) : undefined;
    return inner ? walk(inner[1], [...begun, inner[0][0]]) : walk(content, begun);
  };
  const walkNext = (begun: readonly string[], node: unknown) => walk(node, begun);
  walk(blocks, []);
  const byId = new Map<string, MarkedLink>(
    links.flatMap((link) => link.ids.map((id): [string, MarkedLink] => [`#${id}`, link])),
  );
  const isPaired = (link: MarkedLink) => {
    const other = byId.get(link.target);
    return (
      other !== undefined &&
      other !== link &&
      link.ids.some((id) => other.target === `#${id}`) &&
      other.words === link.words
    );
  };
  return new Set(links.filter(isPaired).map(({ node }) => node));
}

/** By the attributes of a link. */
export function isNoteReference(attributes: unknown): boolean {
  const [, classes] = attributes as [id: string, classes: string[]];
  return classes.some((name) => /^(?:footnote-ref|footnote-reference|noteref)$/.test(name));
}

function wordsOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(wordsOf).join('');
  if (typeof node !== 'object' || node === null) return '';
  const { t: type, c: content } = node as { t: string; c: unknown };
  return type === 'Str' ? String(content) : wordsOf(content);
}
