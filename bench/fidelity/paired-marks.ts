/** A link in pandoc's tree: its words and target, its id, and the ids of the blocks that begin with it. */
interface MarkedLink {
  node: unknown;
  ids: readonly string[];
  words: string;
  target: string;
}

const MARK = /^[[(]?(?:\d{1,4}|[ivxlcdm]{1,8}|[a-z]|\*{1,4}|[†‡§]{1,3})[\])]?$/i;

/**
 * Returns the links that consist of a number and point to each other: references to notes, and the numbers at the start
 * of the notes, if the document marks them in no other way. Browsers write the numbers of our notes.
 */
export function pairedMarks(blocks: unknown): Set<unknown> {
  const links: MarkedLink[] = [];
  // `begun`: ids of blocks without words so far. Their first words may be the number of a note.
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

/** Returns whether a link's attributes mark it as a reference to a note. */
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
