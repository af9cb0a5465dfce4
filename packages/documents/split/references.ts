import { normalizeIdentifier } from 'micromark-util-normalize-identifier';
import type { Block } from './blocks.ts';
import { joinBlocks } from './pieces.ts';

/** A part as a list of blocks. */
export interface LongPart {
  parent: number;
  name: string;
  title: string;
  blocks: Block[];
}

/** Code, mathematics or HTML at the end of a document may be unclosed: text after it would become part of it. */
const MAYBE_UNCLOSED = /^ {0,3}(?:`{3}|~{3}|\${2}|<)/;

/** Text in brackets, which may refer to a definition or a footnote. */
const LABEL = /\[((?:[^[\]\\]|\\[\s\S])+)\]/g;

/**
 * Adds to each part the definitions and footnotes that it refers to. They are removed from their original part if it
 * does not refer to them. Unreferenced ones are not moved.
 */
export function withReferences(parts: readonly LongPart[], blocks: readonly Block[], markdown: string): LongPart[] {
  const definitions = new Map<string, Block>();
  for (const block of blocks) {
    // The first definition of a label wins.
    if (block.identifier !== '' && !definitions.has(block.identifier)) definitions.set(block.identifier, block);
  }
  if (definitions.size === 0) return [...parts];
  const used = parts.map((part) => {
    const text = part.blocks.filter(({ identifier }) => identifier === '');
    return usedIn(joinBlocks(text, markdown), definitions, markdown);
  });
  const usedAnywhere = new Set(used.flatMap((labels) => [...labels]));
  return parts.map((part, i) => {
    const labels = used[i] ?? new Set();
    const own = part.blocks.filter(({ identifier, no }) => {
      if (identifier === '') return true;
      const counts = definitions.get(identifier)?.no === no;
      return labels.has(identifier) ? counts : !(counts && usedAnywhere.has(identifier));
    });
    const there = new Set(own.map(({ no }) => no));
    const missing = [...labels].flatMap((label) => definitions.get(label) ?? []).filter(({ no }) => !there.has(no));
    // Footnotes last, in the order of the document.
    missing.sort((a, b) => Number(a.identifier.startsWith('^')) - Number(b.identifier.startsWith('^')) || a.no - b.no);
    const last = own.at(-1);
    const maybeUnclosed = last?.no === blocks.length - 1 && MAYBE_UNCLOSED.test(markdown.slice(last.start, last.end));
    // Headings in footnotes are not link targets.
    const added = missing.map((block) => ({ ...block, ids: [] }));
    return { ...part, blocks: maybeUnclosed ? [...own.slice(0, -1), ...added, last] : [...own, ...added] };
  });
}

/** Returns the labels that a text refers to, directly or through the definitions that it uses. */
function usedIn(text: string, definitions: ReadonlyMap<string, Block>, markdown: string): Set<string> {
  const used = new Set<string>();
  const open = [text];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [, label = ''] of next.matchAll(LABEL)) {
      const identifier = label.startsWith('^')
        ? `^${normalizeIdentifier(label.slice(1)).toLowerCase()}`
        : normalizeIdentifier(label).toLowerCase();
      const definition = definitions.get(identifier);
      if (!definition || used.has(identifier)) continue;
      used.add(identifier);
      if (identifier.startsWith('^')) open.push(markdown.slice(definition.start, definition.end));
    }
  }
  return used;
}
