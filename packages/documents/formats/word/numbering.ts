import { type ParagraphStyles, stylesOf } from './word-styles.ts';
import { attributesOf, localName, xmlTokens } from './xml-tree.ts';

/** A level of a list of a Word document. */
export interface ListLevel {
  /** The list whose items it counts: several lists of a document may count the same. */
  counter: string;
  /** From 0. */
  level: number;
  isOrdered: boolean;
  /** Whether its items have no mark: they continue those before them. */
  isBlank: boolean;
  /** The number of its first item. */
  start: number;
  /** What restarts it where it is met first; "" if nothing does. */
  restart: string;
}

/** What a paragraph says of its list; undefined if it says nothing. */
interface NumberedParagraph {
  style: string;
  numId: string | undefined;
  level: number | undefined;
}

type LevelDefinition = Pick<ListLevel, 'isOrdered' | 'isBlank' | 'start'>;

interface AbstractList {
  levels: Map<number, LevelDefinition>;
  /** The style of lists that defines it elsewhere; "" if it is defined here. */
  style: string;
}

interface List {
  abstract: string;
  starts: Map<number, number>;
  /** The levels that it defines itself, in place of those of its abstract list. */
  levels: Map<number, LevelDefinition>;
}

/** Word has nine. */
const LEVELS = 9;
/** A list refers to another by a style once; a circle ends here. */
const LINKS_MAX = 5;

/** The level that a paragraph is an item of; undefined for a paragraph that is none. */
export type FindLevel = (paragraph: NumberedParagraph) => ListLevel | undefined;

/** Reads `word/numbering.xml`: which paragraphs are items of lists. */
export function readNumbering(xml: string, styles: ParagraphStyles): FindLevel {
  const { lists, abstracts, levelsOfStyles } = definitionsOf(xml);
  const abstractOf = (numId: string, links = 0): string | undefined => {
    const id = lists.get(numId)?.abstract ?? '';
    const { style = '' } = abstracts.get(id) ?? {};
    if (style === '') return id;
    const linked = styles.get(style)?.numId ?? '';
    return links < LINKS_MAX && linked !== numId ? abstractOf(linked, links + 1) : undefined;
  };
  return ({ style, numId: own, level: ownLevel }) => {
    const from = own === undefined ? [...stylesOf(style, styles)].find(({ numId }) => numId !== '') : undefined;
    const numId = own ?? from?.numId ?? '';
    const list = lists.get(numId);
    const counter = list && abstractOf(numId);
    if (!list || counter === undefined) return undefined;
    const level = ownLevel ?? levelsOfStyles.get(style) ?? from?.listLevel ?? 0;
    const defined = list.levels.get(level) ?? abstracts.get(counter)?.levels.get(level);
    if (!defined) return undefined;
    const start = list.starts.get(level);
    const restart = start === undefined ? '' : `${numId} ${level}`;
    return { ...defined, counter, level, start: start ?? defined.start, restart };
  };
}

function definitionsOf(xml: string) {
  const lists = new Map<string, List>();
  const abstracts = new Map<string, AbstractList>();
  const levelsOfStyles = new Map<string, number>();
  let abstract: AbstractList | undefined;
  let list: List | undefined;
  let level = 0;
  for (const { type, name: tag, source } of xmlTokens(xml)) {
    if (type === 'text' || type === 'close') continue;
    const name = localName(tag);
    const { val = '', ...attributes } = attributesOf(source);
    if (name === 'abstractNum') {
      [abstract, list] = [{ levels: new Map(), style: '' }, undefined];
      abstracts.set(attributes.abstractNumId ?? '', abstract);
    } else if (name === 'num') {
      [abstract, list] = [undefined, { abstract: '', starts: new Map(), levels: new Map() }];
      lists.set(attributes.numId ?? '', list);
    } else if (name === 'lvl' || name === 'lvlOverride') {
      level = Math.min(Number(attributes.ilvl) || 0, LEVELS);
      if (name === 'lvl') (abstract ?? list)?.levels.set(level, { isOrdered: true, isBlank: false, start: 1 });
    } else if (name === 'abstractNumId' && list) list.abstract = val;
    else if (name === 'startOverride') list?.starts.set(level, Number(val) || 0);
    else if (name === 'numStyleLink' && abstract) abstract.style = val;
    else if (name === 'pStyle' && abstract) levelsOfStyles.set(val, level);
    else {
      const definition = (abstract ?? list)?.levels.get(level);
      if (!definition) continue;
      if (name === 'start') definition.start = Number(val) || 0;
      else if (name === 'numFmt') definition.isOrdered = val !== 'bullet' && val !== 'none';
      else if (name === 'lvlText') definition.isBlank = val.trim() === '';
    }
  }
  return { lists, abstracts, levelsOfStyles };
}
