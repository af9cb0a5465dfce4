import { attributesOf, localName, xmlTokens } from './xml-tree.ts';

interface Style {
  name: string;
  basedOn: string;
  /** 1 to 6, 0 for none. */
  outline: number;
}

/** Styles are based on others a few times at most; a circle ends here. */
const CHAIN_MAX = 20;

/** Names that a style map can state. */
const PLAIN_ID = /^[A-Za-z][\w-]*$/;

/**
 * Lines of a style map for the paragraph styles that are headings only by what they are based on or by their level in
 * the outline; the converter knows the names of Word's own.
 */
export function headingStyles(stylesXml: string): string[] {
  const styles = paragraphStyles(stylesXml);
  return [...styles].flatMap(([id, { name }]) => {
    if (!PLAIN_ID.test(id) || /^(?:heading|toc) [1-9]$/i.test(name)) return [];
    const level = levelOf(id, styles);
    return level === 0 ? [] : [`p.${id} => h${level}:fresh`];
  });
}

function levelOf(id: string, styles: ReadonlyMap<string, Style>): number {
  let outline = 0;
  let style = styles.get(id);
  for (let i = 0; style && i < CHAIN_MAX; i += 1) {
    const level = /^heading ([1-6])$/i.exec(style.name)?.[1];
    if (level !== undefined) return Number(level);
    outline ||= style.outline;
    style = styles.get(style.basedOn);
  }
  return outline;
}

function paragraphStyles(xml: string): Map<string, Style> {
  const styles = new Map<string, Style>();
  let style: Style | undefined;
  for (const { type, name: tag, source } of xmlTokens(xml)) {
    if (type === 'text' || type === 'close') continue;
    const name = localName(tag);
    const { val = '', styleId = '', type: kind } = attributesOf(source);
    if (name === 'style') {
      style = kind === 'paragraph' ? { name: '', basedOn: '', outline: 0 } : undefined;
      if (style) styles.set(styleId, style);
    } else if (style && name === 'name') style.name = val;
    else if (style && name === 'basedOn') style.basedOn = val;
    else if (style && name === 'outlineLvl' && /^[0-5]$/.test(val)) style.outline = Number(val) + 1;
  }
  return styles;
}
