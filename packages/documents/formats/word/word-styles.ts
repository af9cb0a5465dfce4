import { attributesOf, localName, xmlTokens } from './xml-tree.ts';

export interface ParagraphStyle {
  name: string;
  basedOn: string;
  /** 1 to 6, 0 for none. */
  outline: number;
  /** The list that its paragraphs are items of; "" if it says nothing about that. */
  numId: string;
  /** The level of these items in their list, from 0. */
  listLevel: number;
}

export type ParagraphStyles = ReadonlyMap<string, ParagraphStyle>;

/** Styles are based on others a few times at most; a circle ends here. */
const CHAIN_MAX = 20;

/** Ids that a style map can state; of others, such as those of Chinese Word, the name is stated. */
const PLAIN_ID = /^[A-Za-z][\w-]*$/;

/**
 * Lines of a style map for the paragraph styles that are headings only by what they are based on or by their level in
 * the outline; the converter knows the names of Word's own.
 */
export function headingStyles(styles: ParagraphStyles): string[] {
  return [...styles].flatMap(([id, { name }]) => {
    if (/^(?:heading|toc) [1-9]$/i.test(name)) return [];
    const level = headingLevelOf(id, styles);
    const style = PLAIN_ID.test(id) ? `p.${id}` : `p[style-name='${name}']`;
    return level === 0 || !/^[^'\\\n]+$/.test(name) ? [] : [`${style} => h${level}:fresh`];
  });
}

/** Of pandoc, Word, LibreOffice, and what people call their own. */
const CODE_STYLE = /^(?:source code|html preformatted|preformatted text|code|code block)$/i;

/** Lines of a style map for the paragraph styles of programs' code, whose line ends and spaces matter. */
export function codeStyles(styles: ParagraphStyles): string[] {
  return [...styles.keys()].flatMap((id) => {
    return isCodeStyle(id, styles) && PLAIN_ID.test(id) ? [`p.${id} => pre:separator('\\n')`] : [];
  });
}

/** Whether the paragraphs of a style are lines of programs' code. */
export function isCodeStyle(id: string, styles: ParagraphStyles): boolean {
  return [...stylesOf(id, styles)].some(({ name }) => CODE_STYLE.test(name)) && headingLevelOf(id, styles) === 0;
}

/** The level of a heading of this style, 0 if it is none. */
export function headingLevelOf(id: string, styles: ParagraphStyles): number {
  let outline = 0;
  for (const style of stylesOf(id, styles)) {
    const level = /^heading ([1-6])$/i.exec(style.name)?.[1];
    if (level !== undefined) return Number(level);
    outline ||= style.outline;
  }
  return outline;
}

/** The style, and those that it is based on, the nearest first. */
export function* stylesOf(id: string, styles: ParagraphStyles): Generator<ParagraphStyle> {
  let style = styles.get(id);
  for (let i = 0; style && i < CHAIN_MAX; i += 1) {
    yield style;
    style = styles.get(style.basedOn);
  }
}

export function paragraphStyles(xml: string): ParagraphStyles {
  const styles = new Map<string, ParagraphStyle>();
  let style: ParagraphStyle | undefined;
  for (const { type, name: tag, source } of xmlTokens(xml)) {
    if (type === 'text' || type === 'close') continue;
    const name = localName(tag);
    const { val = '', styleId = '', type: kind } = attributesOf(source);
    if (name === 'style') {
      // Styles of lists are what numbering refers to.
      const isKnown = kind === 'paragraph' || kind === 'numbering';
      style = isKnown ? { name: '', basedOn: '', outline: 0, numId: '', listLevel: 0 } : undefined;
      if (style) styles.set(styleId, style);
    } else if (style && name === 'name') style.name = val;
    else if (style && name === 'basedOn') style.basedOn = val;
    else if (style && name === 'numId') style.numId = val;
    else if (style && name === 'ilvl') style.listLevel = Number(val) || 0;
    else if (style && name === 'outlineLvl' && /^[0-5]$/.test(val)) style.outline = Number(val) + 1;
  }
  return styles;
}
