import { isSeq } from 'yaml';
import { itemsOf, textOf, valueAt, yamlContent } from '../order/yaml-nodes.ts';

const FRONT_MATTER = /^\ufeff?---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/;

/** A property of a page of Logseq, which are its first lines. */
const PROPERTY = /^alias(?:es)?::[ \t]*(.+)$/im;
const PROPERTIES = /^(?:[\w-]+::.*(?:\n|$))+/;

/** More names of one page are not read. */
const ALIASES_MAX = 50;

/**
 * The other names that a text gives its page: `aliases` or `alias` in the front matter (Obsidian), `alias::` or `aliases::` (Logseq). `beginning`:
 * so much of the text as may be parsed without a time limit.
 */
export function aliasesOf(beginning: string): string[] {
  const text = beginning.replace(/\r\n?/g, '\n');
  const [, front] = FRONT_MATTER.exec(text) ?? [];
  const [, property = ''] = PROPERTY.exec(PROPERTIES.exec(text)?.[0] ?? '') ?? [];
  const names = front === undefined ? property.split(',') : inFrontMatter(front);
  const plain = names.map((name) => name.trim().replace(/^\[\[(.*)\]\]$/, '$1'));
  return [...new Set(plain)].filter((name) => name !== '' && !/[\n/\\#|[\]]/.test(name)).slice(0, ALIASES_MAX);
}

function inFrontMatter(front: string): string[] {
  if (!/^alias(?:es)?[ \t]*:/im.test(front)) return [];
  const content = yamlContent(front);
  return ['aliases', 'alias'].flatMap((key) => {
    const value = valueAt(content, key);
    return isSeq(value) ? itemsOf(value).flatMap((item) => textOf(item) ?? []) : (textOf(value) ?? '').split(',');
  });
}
