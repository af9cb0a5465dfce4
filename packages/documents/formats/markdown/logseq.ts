import { FRONT_MATTER } from '@ibid/markdown/parse-markdown.ts';
import { addRun, type LineRun } from '../../source-lines.ts';
import { type Loss, lostText } from '../losses.ts';
import { type Block, blocksIn, isBuiltIn, isUuid } from './logseq-blocks.ts';
import { blocksById, withLinks, wordsOf } from './logseq-references.ts';

/** A Logseq text converted to Markdown. */
export interface LogseqText {
  markdown: string;
  /** Maps lines of the Markdown to lines of the file. */
  lines: LineRun[];
  /** The text with hidden properties blanked out. */
  rest: string;
  /** The hidden properties, each with its line number. */
  losses: { line: number; loss: Loss }[];
}

/** A property on a line of its own. */
const PROPERTY = /^([A-Za-z][\w./-]{0,99})::(?:[ \t]+(.*))?$/;

/** Page properties that Logseq gives a meaning, and `type`, which most pages of its own documentation have. */
const OF_PAGES =
  /^(?:title|alias|aliases|tags?|type|icon|public|template|filters|exclude-from-graph-view|created-at|updated-at)$/i;

/** The limit of properties above the blocks, in UTF-16 units. */
const PROPERTIES_LENGTH = 8_000;

/** Fields that a page shows or uses unchanged. */
const USED = /^(?:title|description|lang)$/i;

interface Outline {
  /** The front matter; "" without any. */
  front: string;
  /** The lines after the front matter. */
  lines: readonly string[];
  /** The properties in the first lines. */
  properties: readonly (readonly [name: string, value: string])[];
  blocks: readonly Block[];
  /** The indexes of lines of code. */
  code: ReadonlySet<number>;
}

/**
 * Converts the properties and blocks of Logseq; returns undefined for any other text. A Logseq text has a block with
 * `id::` or `collapsed::`, or begins with properties that Logseq knows and is otherwise a list. The file name and other
 * files of the upload do not matter, so that a stored file is always read the same way. Properties of the page become
 * front matter, an `id::` becomes the anchor of its block (`^id`), and other built-in properties are removed.
 * References to blocks of the same text become links. Takes linear time.
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

/** Adds the anchor of a block to the end of its first paragraph, or before any other content at its beginning. */
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

/** Writes a property as a YAML field. */
function fieldOf([written, value]: readonly [string, string]): string {
  const name = written.toLowerCase();
  const plain = (text: string) => text.replaceAll('[[', '').replaceAll(']]', '').trim();
  if (!LISTS.test(name) || !value.includes('[[')) return `${name}: ${JSON.stringify(plain(value))}`;
  const items = value.match(/#?\[\[[^[\]]*\]\]|[^,[\]]+/g) ?? [];
  return `${name}: ${JSON.stringify(items.map(plain).filter((item) => !/^#?$/.test(item)))}`;
}
