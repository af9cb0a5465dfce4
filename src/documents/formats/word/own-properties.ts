import { headingLevelOf, type ParagraphStyle, type ParagraphStyles } from './word-styles.ts';
import { attributesOf } from './xml-tree.ts';

const HEADING = 'IbidHeading';

/** Of the properties of a paragraph, and of an initial, in characters. */
const PROPERTIES_MAX = 10_000;

/** The styles of paragraphs that are headings by a level of the outline of their own. */
export const OUTLINE_STYLES: readonly [id: string, style: ParagraphStyle][] = [1, 2, 3, 4, 5, 6].map((outline) => [
  `${HEADING}${outline}`,
  { name: `${HEADING}${outline}`, basedOn: '', outline, numId: '', listLevel: 0 },
]);

/**
 * Rewrites what paragraphs say of themselves, which the converter reads of styles only: a level of the outline becomes
 * the style of a heading, and an initial that is a paragraph of its own joins the paragraph that it begins. In time
 * linear in the length.
 */
export function rewriteOwnProperties(xml: string, styles: ParagraphStyles): string {
  const prefix = /<(\w+):document[\s>]/.exec(xml)?.[1];
  if (prefix === undefined) return xml;
  const outlined = xml.includes(`<${prefix}:outlineLvl `) ? asHeadings(xml, prefix, styles) : xml;
  return /:dropCap="(?:drop|margin)"/.test(outlined) ? withInitials(outlined, prefix) : outlined;
}

function asHeadings(xml: string, w: string, styles: ParagraphStyles): string {
  const properties = new RegExp(
    `(<${w}:pPr(?:\\s[^<>]*)?>)((?:(?!<${w}:pPrChange|</${w}:pPr>|<${w}:p[\\s>])[^]){0,${PROPERTIES_MAX}})`,
    'g',
  );
  return xml.replace(properties, (whole, tag: string, content: string) => {
    const [level] = new RegExp(`<${w}:outlineLvl\\s[^<>]*>`).exec(content) ?? [];
    const outline = Number(level && attributesOf(level).val);
    if (level === undefined || !(outline <= 5)) return whole;
    const [named] = new RegExp(`<${w}:pStyle\\s[^<>]*>`).exec(content) ?? [];
    if (named && headingLevelOf(attributesOf(named).val ?? '', styles) > 0) return whole;
    const style = `<${w}:pStyle ${w}:val="${HEADING}${outline + 1}"/>`;
    return `${tag}${style}${named ? content.replace(named, '') : content}`;
  });
}

/** An initial over several lines is a frame before its paragraph. */
function withInitials(xml: string, w: string): string {
  const start = `<${w}:p(?:\\s[^<>]*[^<>/])?>\\s*`;
  const properties = `<${w}:pPr(?:\\s[^<>]*)?>(?:(?!</${w}:pPr>|<${w}:p[\\s>])[^]){0,${PROPERTIES_MAX}}</${w}:pPr>`;
  const initial = new RegExp(
    `${start}(${properties})((?:(?!</?${w}:p[\\s>])[^]){0,${PROPERTIES_MAX}})</${w}:p>\\s*(${start})((?:${properties})?)`,
    'g',
  );
  return xml.replace(initial, (whole, own: string, runs: string, next: string, nextProperties: string) =>
    /:dropCap="(?:drop|margin)"/.test(own) ? `${next}${nextProperties}${runs}` : whole,
  );
}
