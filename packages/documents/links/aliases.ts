import { isSeq } from 'yaml';
import { itemsOf, textOf, valueAt, yamlContent } from '../order/yaml-nodes.ts';

const FRONT_MATTER = /^\ufeff?---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/;

/** A property of a Logseq page; properties are its first lines. */
const PROPERTY = /^alias(?:es)?::[ \t]*(.+)$/im;
const PROPERTIES = /^(?:[\w-]+::.*(?:\n|$))+/;

/** The maximum number of aliases read from one page. */
const ALIASES_MAX = 50;

/**
 * Returns the aliases that a text gives its page: `aliases` or `alias` in the front matter (Obsidian), `alias::` or
 * `aliases::` (Logseq). `beginning`: the beginning of the text, short enough to be parsed without a time limit.
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
