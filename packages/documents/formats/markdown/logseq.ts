import { FRONT_MATTER } from '@ibid/markdown/parse-markdown.ts';
import { addRun, type LineRun } from '../../source-lines.ts';
import { type Loss, lostText } from '../losses.ts';
import { type Block, blocksIn, isBuiltIn, isUuid } from './logseq-blocks.ts';
import { blocksById, withLinks, wordsOf } from './logseq-references.ts';

/** A text of Logseq as Markdown. */
export interface LogseqText {
  markdown: string;
  /** The lines of the file that those of the Markdown are from. */
  lines: LineRun[];
  /** The text with empty lines instead of the properties that are not shown. */
  rest: string;
  /** The properties that are not shown, each with the number of its line. */
  losses: { line: number; loss: Loss }[];
}

/** A property that is alone in its line. */
const PROPERTY = /^([A-Za-z][\w./-]{0,99})::(?:[ \t]+(.*))?$/;

/** Properties of pages that Logseq gives a meaning, and `type`, which most pages of its own documentation have. */
const OF_PAGES =
  /^(?:title|alias|aliases|tags?|type|icon|public|template|filters|exclude-from-graph-view|created-at|updated-at)$/i;

/** Longer front matter is not read. */
const PROPERTIES_LENGTH = 8_000;

/** The fields that a page shows or uses as they are. */
const USED = /^(?:title|description|lang)$/i;

interface Outline {
  /** The front matter, if the text has any. */
  front: string;
  /** The lines behind it. */
  lines: readonly string[];
  /** The first lines, as far as they are properties. */
  properties: readonly (readonly [name: string, value: string])[];
  blocks: readonly Block[];
  /** The indexes of the lines that are code. */
  code: ReadonlySet<number>;
}

/**
 * Reads the properties and blocks of Logseq; undefined for any other text. In a text of Logseq a block has an `id::` or
 * `collapsed::`, or the text begins with properties that Logseq knows and is a list otherwise. Names of files and other files of an
 * upload do not count, so that a stored file is always read alike. Properties of the page become front matter, an `id::` becomes
 * the anchor of its block (`^id`), other properties that Logseq writes for itself are left out, and references to blocks of the same
 * text are links. Linear in the length of the text.
 */
export function readLogseq(text: string): LogseqText | undefined {
  if (!text.includes('::')) return undefined;
  const front = FRONT_MATTER.exec(text)?.[0] ?? '';
  const lines = text.slice(front.length).split('\n');
  const properties = front === '' ? propertiesAbove(lines) : [];
  const outline = { front, lines, properties, ...blocksIn(lines, properties.length) };
  return isLogseq(outline) ? converted(outline) : undefined;
}

function propertiesAbove(lines: readonly string[]): [name: string, value: string][] {
  const properties: [string, string][] = [];
  let length = 0;
  for (const line of lines) {
    const [, name, value = ''] = PROPERTY.exec(line) ?? [];
    length += line.length;
    if (name === undefined || length > PROPERTIES_LENGTH) break;
    properties.push([name, value.trim()]);
  }
  return properties;
}

function isLogseq({ blocks, lines, properties }: Outline): boolean {
  const isCertain = ({ name, value }: { name: string; value: string }) =>
    (name === 'id' && isUuid(value)) || (name === 'collapsed' && /^(?:true|false)$/.test(value));
  if (blocks.some((block) => block.properties.some(isCertain))) return true;
  const isList = () => lines.slice(properties.length).every((line) => /^(?:-(?:[ \t]|$)|[ \t]|$)/.test(line));
  return properties.some(([name]) => OF_PAGES.test(name)) && isList();
}

function converted({ front, lines, properties, blocks, code }: Outline): LogseqText {
  const first = front.split('\n').length;
  const losses: LogseqText['losses'] = [];
  const lose = (at: number, text: string) => {
    losses.push({ line: first + at, loss: lostText('metadata', text, `line ${first + at}`) });
  };
  for (const [at, [name]] of properties.entries()) if (!USED.test(name)) lose(at, lines[at] ?? '');

  const rest = lines.map((line, at) => (at < properties.length ? '' : line));
  const body = new Map<number, readonly string[]>();
  for (const { at: start, mark, properties: own } of blocks) {
    for (const { name, value, at, text } of own) {
      if (!isBuiltIn(name)) continue;
      if (name !== 'id' || !isUuid(value)) lose(at, text);
      const left = at === start ? mark.trimEnd() : '';
      rest[at] = left;
      body.set(at, left === '' ? [] : [left]);
    }
  }
  const byId = blocksById(blocks);
  for (const [id, block] of byId) addAnchor(body, lines, block, id);

  const words = new Map([...byId].map(([id, block]) => [id, wordsOfBlock(block, lines)]));
  const made: { text: string; at: number }[] = [];
  if (properties.length > 0) {
    const fence = { text: '---', at: -first };
    made.push(fence, ...properties.map((property, at) => ({ text: fieldOf(property), at })), fence);
  }
  for (let at = properties.length; at < lines.length; at += 1) {
    const texts = body.get(at) ?? [lines[at] ?? ''];
    for (const text of texts) made.push({ text: code.has(at) ? text : withLinks(text, words), at });
  }
  const runs: LineRun[] = front === '' ? [] : [{ at: 1, line: 1, height: 1 }];
  for (const [i, { at }] of made.entries()) addRun(runs, { at: first + i, line: first + at, height: 1 });
  const markdown = front + made.map(({ text }) => text).join('\n');
  return { markdown, lines: runs, rest: front + rest.join('\n'), losses };
}

/** Puts the anchor of a block where its first paragraph ends; before anything else that it begins with. */
function addAnchor(body: Map<number, readonly string[]>, lines: readonly string[], block: Block, id: string): void {
  const { at, mark, content, end } = block;
  if (end >= 0) body.set(end, [`${(lines[end] ?? '').trimEnd()} ^${id}`]);
  else {
    const item = `${mark.trimEnd()} ^${id}`;
    body.set(at, content === '' ? [item] : [item, `${mark.replace('-', ' ')}${content}`]);
  }
}

function wordsOfBlock({ at, content, end }: Block, lines: readonly string[]): string {
  return wordsOf(content || (lines[end] ?? '')) || `line ${at + 1}`;
}

const LISTS = /^(?:alias|aliases|tags?)$/i;

/** A property as a field of YAML. */
function fieldOf([written, value]: readonly [string, string]): string {
  const name = written.toLowerCase();
  const plain = (text: string) => text.replaceAll('[[', '').replaceAll(']]', '').trim();
  if (!LISTS.test(name) || !value.includes('[[')) return `${name}: ${JSON.stringify(plain(value))}`;
  const items = value.match(/#?\[\[[^[\]]*\]\]|[^,[\]]+/g) ?? [];
  return `${name}: ${JSON.stringify(items.map(plain).filter((item) => !/^#?$/.test(item)))}`;
}
