import { type Block, isUuid } from './logseq-blocks.ts';

/** Words of a block that a link to it has, at most. */
const WORDS_MAX = 100;
/** So much of a line is read for them. */
const READ_MAX = 500;

const ID = String.raw`\(\(([\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12})\)\)`;
/** Code in a line; `[words](((id)))`; `{{embed ((id))}}`; `((id))`. */
const REFERENCE = new RegExp(
  String.raw`\x60+[^\x60\n]*\x60+|\[([^[\]\n]{1,300})\]\(${ID}\)|\{\{embed[ \t]+${ID}[ \t]*\}\}|${ID}`,
  'g',
);

/** The blocks that have an id of their own in a text, by it. */
export function blocksById(blocks: readonly Block[]): ReadonlyMap<string, Block> {
  const byId = new Map<string, Block>();
  const twice = new Set<string>();
  for (const block of blocks) {
    const id = block.properties.find(({ name, value }) => name === 'id' && isUuid(value))?.value.toLowerCase();
    if (id === undefined) continue;
    if (byId.has(id)) twice.add(id);
    byId.set(id, block);
  }
  for (const id of twice) byId.delete(id);
  return byId;
}

/** A line with links in the place of references to blocks of the same text; others stay as they are written. */
export function withLinks(line: string, words: ReadonlyMap<string, string>): string {
  if (!line.includes('((')) return line;
  return line.replace(REFERENCE, (written, label?: string, labelled?: string, embedded?: string, bare?: string) => {
    const id = (labelled ?? embedded ?? bare)?.toLowerCase();
    const said = id === undefined ? undefined : words.get(id);
    return said === undefined ? written : `[${label ?? said}](#^${id})`;
  });
}

/** What a block says first, as the text of a link: without marks, pictures and other links. */
export function wordsOf(line: string): string {
  const plain = line
    .slice(0, READ_MAX)
    .replace(/^[ \t]*#{1,6}[ \t]+/, '')
    .replace(/\{\{embed[ \t]+\(\([^()]*\)\)[ \t]*\}\}|\(\([^()]*\)\)/g, '…')
    .replace(/\[\[([^[\]]*)\]\]/g, '$1')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/[*`~]|__|==/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const cut =
    plain.length > WORDS_MAX ? `${plain.slice(0, WORDS_MAX).replace(/ [^ ]*$|[\ud800-\udbff]$/, '')}…` : plain;
  return cut.replace(/[\\[\]_<>|&$!=^%#{}:@]/g, '\\$&').replace(/www\./gi, String.raw`www\.`);
}
