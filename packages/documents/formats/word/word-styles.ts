import { attributesOf, localName, xmlTokens } from './xml-tree.ts';

export interface ParagraphStyle {
  name: string;
  basedOn: string;
  /** The heading level from 1 to 6; 0 without an outline level. */
  outline: number;
  /** The list of the style's paragraphs; "" if the style sets no list. */
  numId: string;
  /** The zero-based level of these items. */
  listLevel: number;
}

export type ParagraphStyles = ReadonlyMap<string, ParagraphStyle>;

/** The longest chain of inherited styles; a longer one is a cycle. */
const CHAIN_MAX = 20;

/** Ids that a style map can express. Other styles, for example in Chinese versions of Word, are matched by name. */
const PLAIN_ID = /^[A-Za-z][\w-]*$/;

/**
 * Returns style map rules for paragraph styles that are headings only through their base style or outline level; the
 * converter knows Word's built-in names.
 */
export function headingStyles(styles: ParagraphStyles): string[] {
  return [...styles].flatMap(([id, { name }]) => {
    if (/^(?:heading|toc) [1-9]$/i.test(name)) return [];
    const level = headingLevelOf(id, styles);
    const style = PLAIN_ID.test(id) ? `p.${id}` : `p[style-name='${name}']`;
    return level === 0 || !/^[^'\\\n]+$/.test(name) ? [] : [`${style} => h${level}:fresh`];
  });
}

/** Code styles of pandoc, Word and LibreOffice, and common custom names. */
const CODE_STYLE = /^(?:source code|html preformatted|preformatted text|code|code block)$/i;

/** Returns style map rules for code paragraphs, which keep their line ends and spaces. */
export function codeStyles(styles: ParagraphStyles): string[] {
  return [...styles.keys()].flatMap((id) => {
    return isCodeStyle(id, styles) && PLAIN_ID.test(id) ? [`p.${id} => pre:separator('\\n')`] : [];
  });
}

export function isCodeStyle(id: string, styles: ParagraphStyles): boolean {
  return [...stylesOf(id, styles)].some(({ name }) => CODE_STYLE.test(name)) && headingLevelOf(id, styles) === 0;
}

/** Returns the heading level of a style, 0 if it is not a heading. */
export function headingLevelOf(id: string, styles: ParagraphStyles): number {
  let outline = 0;
  for (const style of stylesOf(id, styles)) {
    const level = /^heading ([1-6])$/i.exec(style.name)?.[1];
    if (level !== undefined) return Number(level);
    outline ||= style.outline;
  }
  return outline;
}

/** Yields a style and the styles that it is based on, nearest first. */
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
      // Numbering refers to list styles.
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
