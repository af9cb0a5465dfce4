import { type ParagraphStyles, stylesOf } from './word-styles.ts';
import { attributesOf, localName, xmlTokens } from './xml-tree.ts';

/** A level of a list in a Word document. */
export interface ListLevel {
  /** The id of the counter; several lists of a document may share one. */
  counter: string;
  /** Zero-based. */
  level: number;
  isOrdered: boolean;
  /** Whether items have no mark and so continue the previous item. */
  isBlank: boolean;
  /** The number of the first item. */
  start: number;
  /** A key that restarts the counter the first time it occurs; "" for no restart. */
  restart: string;
}

/** The numbering properties of a paragraph; undefined if they are not set. */
interface NumberedParagraph {
  style: string;
  numId: string | undefined;
  level: number | undefined;
}

type LevelDefinition = Pick<ListLevel, 'isOrdered' | 'isBlank' | 'start'>;

interface AbstractList {
  levels: Map<number, LevelDefinition>;
  /** The list style that defines the levels; "" if they are defined here. */
  style: string;
}

interface List {
  abstract: string;
  starts: Map<number, number>;
  /** Levels that override the levels of the abstract list. */
  levels: Map<number, LevelDefinition>;
}

/** Word has nine list levels. */
const LEVELS = 9;
/** A list refers to another list through a style once; more links are a cycle. */
const LINKS_MAX = 5;

/** Finds the list level of a paragraph; undefined if the paragraph is not a list item. */
export type FindLevel = (paragraph: NumberedParagraph) => ListLevel | undefined;

/** Parses `word/numbering.xml` into a function that finds the list level of a paragraph. */
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
