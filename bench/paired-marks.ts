/** A link of pandoc's tree: its id, words and target. */
interface MarkedLink {
  node: unknown;
  id: string;
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
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) walk(each);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const { t: type, c: content } = node as { t: string; c: unknown };
    if (type === 'Link') {
      const [[id], words, [target]] = content as [[string], unknown, [string]];
      const text = wordsOf(words);
      if (MARK.test(text)) links.push({ node, id, words: text, target });
    }
    walk(content);
  };
  walk(blocks);
  const byId = new Map(links.map((link) => [`#${link.id}`, link]));
  const isPaired = (link: MarkedLink) => {
    const other = byId.get(link.target);
    return other !== undefined && other !== link && other.target === `#${link.id}` && other.words === link.words;
  };
  return new Set(links.filter(isPaired).map(({ node }) => node));
}

function wordsOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(wordsOf).join('');
  if (typeof node !== 'object' || node === null) return '';
  const { t: type, c: content } = node as { t: string; c: unknown };
  return type === 'Str' ? String(content) : wordsOf(content);
}
