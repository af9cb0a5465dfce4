import type { FindLevel, ListLevel } from './numbering.ts';
import { headingLevelOf, isCodeStyle, type ParagraphStyles } from './word-styles.ts';
import { attributesOf } from './xml-tree.ts';

/** Word has nine list levels. */
const LEVELS = 9;

/**
 * Internal styles for paragraphs and code that continue an item, and a bookmark prefix for items with an
 * out-of-sequence number.
 */
const CONTINUING = 'IbidItemText';
const CONTINUING_CODE = 'IbidItemCode';
const NUMBER = 'ibid-number-';
const NUMBER_MAX = 999_999_999;

const MAIN = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

/** The definitions that rewritten items refer to: list 1 has bullets, list 2 has numbers. */
export const PLAIN_NUMBERING = `<w:numbering xmlns:w="${MAIN}">${['bullet', 'decimal']
  .map((format, i) => {
    const levels = Array.from(
      { length: LEVELS },
      (_, k) => `<w:lvl w:ilvl="${k}"><w:numFmt w:val="${format}"/></w:lvl>`,
    );
    return `<w:abstractNum w:abstractNumId="${i + 1}">${levels.join('')}</w:abstractNum>`;
  })
  .join(
    '',
  )}${[1, 2].map((i) => `<w:num w:numId="${i}"><w:abstractNumId w:val="${i}"/></w:num>`).join('')}</w:numbering>`;

/** Rules for the converter's style map, because its default lists stop at five levels. */
export const LIST_STYLES: readonly string[] = Array.from({ length: LEVELS }, (_, i) => {
  const outer = 'ul|ol > li > '.repeat(i);
  return [
    `p:unordered-list(${i + 1}) => ${outer}ul > li:fresh`,
    `p:ordered-list(${i + 1}) => ${outer}ol > li:fresh`,
    `p.${CONTINUING}${i} => ${outer}ul|ol > li > p:fresh`,
    `p.${CONTINUING_CODE}${i} => ${outer}ul|ol > li > pre:separator('\\n')`,
  ];
}).flat();

/** An open list: its level in Word, and the number that the converter will give the next item. */
interface OpenList {
  level: number;
  isOrdered: boolean;
  next: number;
}

/** A sequence of paragraphs: the document body, a cell or a text box. */
interface Flow {
  open: OpenList[];
  /** The kind of the last paragraph; undefined if its properties are unread or missing. */
  paragraph: 'item' | 'continuing' | 'other' | undefined;
}

/**
 * Rewrites list paragraphs of a part for the converter, which reads levels and numbers in sequence. A skipped level
 * does not nest deeper, an out-of-sequence number is marked for `withNumbers`, and a paragraph in Word's list paragraph
 * style continues the item before it. Takes one pass, in linear time.
 */
export function rewriteLists(xml: string, findLevel: FindLevel, styles: ParagraphStyles): string {
  const w = /<(\w+):(?:document|footnotes|endnotes)[\s>]/.exec(xml)?.[1] ?? 'w';
  const pieces = new RegExp(
    `<${w}:(p|pPr|tc|txbxContent|t|drawing|pict|object)(?:\\s[^<>]*)?>|</${w}:(?:tc|txbxContent)>`,
    'g',
  );
  const endOfProperties = new RegExp(`</${w}:pPr>|<${w}:pPrChange[\\s>]`, 'g');
  const count = openCounters();
  const written: string[] = [];
  const flows: Flow[] = [{ open: [], paragraph: undefined }];
  let copied = 0;
  for (let piece = pieces.exec(xml); piece; piece = pieces.exec(xml)) {
    const [tag, name] = piece;
    const flow = flows.at(-1) as Flow;
    if (tag.endsWith('/>')) continue;
    if (name === 'tc' || name === 'txbxContent') {
      flow.open = [];
      flows.push({ open: [], paragraph: undefined });
    } else if (name === undefined) flows.length = Math.max(1, flows.length - 1);
    else if (name === 'p') flow.paragraph = undefined;
    else if (name !== 'pPr') {
      if (flow.paragraph === undefined || flow.paragraph === 'other') flow.open = [];
    } else if (flow.paragraph === undefined) {
      endOfProperties.lastIndex = pieces.lastIndex;
      const end = endOfProperties.exec(xml);
      // The converter refuses XML that is not well-formed.
      if (!end) return xml;
      const properties = xml.slice(pieces.lastIndex, end.index);
      const rewritten = rewriteProperties(properties, flow, { findLevel, styles, count, w });
      if (rewritten === undefined) continue;
      written.push(xml.slice(copied, pieces.lastIndex), rewritten.properties);
      copied = end.index;
      if (rewritten.number === undefined || !end[0].startsWith('</')) continue;
      copied += end[0].length;
      written.push(end[0], `<${w}:bookmarkStart ${w}:id="0" ${w}:name="${NUMBER}${rewritten.number}"/>`);
    }
  }
  return written.length === 0 ? xml : written.join('') + xml.slice(copied);
}

interface Context {
  findLevel: FindLevel;
  styles: ParagraphStyles;
  count: (item: ListLevel) => number;
  w: string;
}

/**
 * Rewrites the properties of a list item or of a paragraph that continues one. Also returns a number that is out of
 * sequence. Returns undefined if the properties need no change.
 */
function rewriteProperties(
  properties: string,
  flow: Flow,
  { findLevel, styles, count, w }: Context,
): { properties: string; number?: number } | undefined {
  const [numbering] = new RegExp(`<${w}:numPr(?:/>|[\\s>].*?</${w}:numPr>)`, 's').exec(properties) ?? [];
  const style = propertyOf(properties, `${w}:pStyle`) ?? '';
  const level = numbering && propertyOf(numbering, `${w}:ilvl`);
  const numId = numbering && propertyOf(numbering, `${w}:numId`);
  const item = findLevel({ style, numId, level: level === undefined ? undefined : Number(level) || 0 });
  flow.paragraph = 'other';
  const plain = numbering === undefined ? properties : properties.replace(numbering, '');
  if (headingLevelOf(style, styles) > 0) {
    // A numbered heading advances its list's counter, but it is neither an item nor the continuation of one.
    if (item && !item.isBlank) count(item);
    return numbering === undefined ? undefined : { properties: plain };
  }
  if (item && !item.isBlank) {
    const number = count(item);
    flow.paragraph = 'item';
    const list = openList(flow.open, item);
    const isNext = !item.isOrdered || number === list.next || number > NUMBER_MAX;
    list.next = number + 1;
    const own = `<${w}:ilvl ${w}:val="${flow.open.length - 1}"/><${w}:numId ${w}:val="${item.isOrdered ? 2 : 1}"/>`;
    return { properties: `${plain}<${w}:numPr>${own}</${w}:numPr>`, ...(!isNext && { number }) };
  }
  if (item) endDeeper(flow.open, item.level);
  else {
    // LibreOffice writes numId 0 for a list paragraph without a number. If the style is numbered, it only switches the
    // number off.
    const isWithoutNumber = numId === '0' && !findLevel({ style, numId: undefined, level: undefined });
    const isOfList = isWithoutNumber || /^list (?:paragraph|continue)/i.test(styles.get(style)?.name ?? '');
    if (!isOfList) return undefined;
  }
  if (flow.open.length === 0) return { properties: plain };
  flow.paragraph = 'continuing';
  const named = plain.replace(new RegExp(`<${w}:pStyle\\s[^<>]*>`), '');
  const continuing = isCodeStyle(style, styles) ? CONTINUING_CODE : CONTINUING;
  return { properties: `<${w}:pStyle ${w}:val="${continuing}${flow.open.length - 1}"/>${named}` };
}

function propertyOf(properties: string, name: string): string | undefined {
  const [tag] = new RegExp(`<${name}\\s[^<>]*>`).exec(properties) ?? [];
  return tag === undefined ? undefined : attributesOf(tag).val;
}

/**
 * Closes deeper lists and returns the list of an item. If no list of its level and kind is open, opens one, in place of
 * a list of the other kind or of the deepest list at the limit.
 */
function openList(open: OpenList[], { level, isOrdered }: ListLevel): OpenList {
  endDeeper(open, level);
  const last = open.at(-1);
  if (last?.level === level && last.isOrdered === isOrdered) return last;
  if (last?.level === level) open.pop();
  const list = { level, isOrdered, next: 1 };
  if (open.length >= LEVELS) open.pop();
  open.push(list);
  return list;
}

function endDeeper(open: OpenList[], level: number): void {
  while ((open.at(-1)?.level ?? -1) > level) open.pop();
}

/** Counts the items of lists; an item restarts the lists below it. */
function openCounters(): (item: ListLevel) => number {
  const numbers = new Map<string, (number | undefined)[]>();
  const restarted = new Set<string>();
  return ({ counter, level, start, restart }) => {
    const own = numbers.get(counter) ?? [];
    numbers.set(counter, own);
    const isNew = restart !== '' && !restarted.has(restart);
    if (isNew) restarted.add(restart);
    const last = isNew ? undefined : own[level];
    const number = last === undefined ? start : last + 1;
    own.length = level;
    own[level] = number;
    return number;
  };
}

/** Gives items in the converter's HTML the numbers that they have in Word: splits a list where the sequence breaks. */
export function withNumbers(html: string): string {
  if (!html.includes(`<a id="${NUMBER}`)) return html;
  return html
    .replace(new RegExp(`<ol><li><a id="${NUMBER}(\\d+)"></a>`, 'g'), '<ol start="$1"><li>')
    .replace(new RegExp(`<li><a id="${NUMBER}(\\d+)"></a>`, 'g'), '</ol><ol start="$1"><li>');
}
