import { type Block, isUuid } from './logseq-blocks.ts';

/** The limit of a link text taken from a block, in UTF-16 units. */
const WORDS_MAX = 100;
/** The length of a line that is read for a link text, in UTF-16 units. */
const READ_MAX = 500;

const ID = String.raw`\(\(([\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12})\)\)`;
/** Matches inline code; `[words](((id)))`; `{{embed ((id))}}`; `((id))`. */
const REFERENCE = new RegExp(
  String.raw`\x60+[^\x60\n]*\x60+|\[([^[\]\n]{1,300})\]\(${ID}\)|\{\{embed[ \t]+${ID}[ \t]*\}\}|${ID}`,
  'g',
);

/** Maps ids to blocks; ids that occur twice in the text are dropped. */
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

/** Replaces references to blocks of the same text by links; other references do not change. */
export function withLinks(line: string, words: ReadonlyMap<string, string>): string {
  if (!line.includes('((')) return line;
  return line.replace(REFERENCE, (written, label?: string, labelled?: string, embedded?: string, bare?: string) => {
    const id = (labelled ?? embedded ?? bare)?.toLowerCase();
    const said = id === undefined ? undefined : words.get(id);
    return said === undefined ? written : `[${label ?? said}](#^${id})`;
  });
}

/** Returns the link text of a block: its first line without marks, pictures and links. */
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
