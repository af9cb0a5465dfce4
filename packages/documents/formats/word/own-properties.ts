import { headingLevelOf, type ParagraphStyle, type ParagraphStyles } from './word-styles.ts';
import { attributesOf } from './xml-tree.ts';

const HEADING = 'IbidHeading';

/** The limit of the properties of a paragraph, and of a drop cap, in characters. */
const PROPERTIES_MAX = 10_000;

/** The limit of columns in Word tables. */
const COLUMNS_MAX = 63;

/** Styles for paragraphs that are headings by their own outline level. */
export const OUTLINE_STYLES: readonly [id: string, style: ParagraphStyle][] = [1, 2, 3, 4, 5, 6].map((outline) => [
  `${HEADING}${outline}`,
  { name: `${HEADING}${outline}`, basedOn: '', outline, numId: '', listLevel: 0 },
]);

/**
 * Rewrites properties of paragraphs, runs and rows that the converter does not read. An outline level becomes a heading
 * style. A drop cap joins its paragraph. Raised and lowered numbers become superscripts and subscripts. Columns that a
 * row skips become an empty cell. Takes linear time.
 */
export function rewriteOwnProperties(xml: string, styles: ParagraphStyles): string {
  const prefix = /<(\w+):document[\s>]/.exec(xml)?.[1];
  if (prefix === undefined) return xml;
  const outlined = xml.includes(`<${prefix}:outlineLvl `) ? asHeadings(xml, prefix, styles) : xml;
  const joined = /:dropCap="(?:drop|margin)"/.test(outlined) ? withInitials(outlined, prefix) : outlined;
  const raised = joined.includes(`<${prefix}:position `) ? withScripts(joined, prefix) : joined;
  return raised.includes(`<${prefix}:gridBefore `) ? withCellsBefore(raised, prefix) : raised;
}

/** The smallest offset of a superscript or subscript, in half points; smaller offsets are typographic adjustments. */
const MOVED_MIN = 4;

function withScripts(xml: string, w: string): string {
  const run = new RegExp(
    `(<${w}:rPr(?:\\s[^<>]*)?>)((?:<(?!/${w}:rPr>)[^<>]*>){0,40})(</${w}:rPr>\\s*<${w}:t(?:\\s[^<>]*)?>[+−-]?\\d{1,4}[+−-]?</${w}:t>)`,
    'g',
  );
  return xml.replace(run, (whole, start: string, properties: string, text: string) => {
    const [position] = new RegExp(`<${w}:position\\s[^<>]*>`).exec(properties) ?? [];
    const moved = Number(position && attributesOf(position).val);
    if (position === undefined || !(Math.abs(moved) >= MOVED_MIN) || properties.includes(`<${w}:vertAlign `))
      return whole;
    const script = `<${w}:vertAlign ${w}:val="${moved > 0 ? 'superscript' : 'subscript'}"/>`;
    return `${start}${properties.replace(position, script)}${text}`;
  });
}

function withCellsBefore(xml: string, w: string): string {
  const row = new RegExp(`<${w}:trPr(?:\\s[^<>]*)?>(?:<(?!/${w}:trPr>)[^<>]*>){0,40}</${w}:trPr>`, 'g');
  return xml.replace(row, (properties) => {
    const [before] = new RegExp(`<${w}:gridBefore\\s[^<>]*>`).exec(properties) ?? [];
    const columns = Number(before && attributesOf(before).val);
    if (!(columns > 0 && columns <= COLUMNS_MAX)) return properties;
    const span = `<${w}:tcPr><${w}:gridSpan ${w}:val="${columns}"/></${w}:tcPr>`;
    return `${properties}<${w}:tc>${span}<${w}:p/></${w}:tc>`;
  });
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

/** A drop cap is a framed paragraph before the paragraph that it belongs to. */
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
