const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\n(?:[\s\S]{0,20000}?\n)?\1[ \t]*(?:\n|$)/;

/** Returns a function that tells for each line whether it belongs to a block that was open before it. */
export function openBlocks(markdown: string): (line: string, wasEmpty: boolean) => boolean {
  let isFirst = FRONT_MATTER.test(markdown);
  let closes: ((line: string) => boolean) | undefined;
  /**
   * The indentation of the content of the outermost list item, to which lines with at least this indentation belong.
   */
  let item = 0;
  return (line, wasEmpty) => {
    if (isFirst) {
      isFirst = false;
      closes = (other) => other === '---';
      return false;
    }
    if (closes) {
      if (closes(line)) closes = undefined;
      return true;
    }
    if (line === '') return false;
    if (item > 0 && indentOf(line) >= item) return true;
    const [marker] = MARKER.exec(line) ?? [];
    if (marker !== undefined) {
      item = widthOf(marker);
      return false;
    }
    // Words directly after an item are a lazy continuation of it.
    if (item > 0 && !wasEmpty && !INTERRUPTS.test(line)) return true;
    item = 0;
    closes = opensIn(line, wasEmpty);
    return false;
  };
}

/** The marker of an item or of a footnote, with the spaces after it. A line of only markers is a thematic break. */
export const MARKER = /^(?! {0,3}([-*])[ \t]*(?:\1[ \t]*)+$) {0,3}(?:(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)|\[\^[^\]]+\]:)/;

/** Headings, fences, quotes, HTML and thematic breaks can interrupt a paragraph. */
const INTERRUPTS = /^ {0,3}(?:#{1,6}(?:[ \t]|$)|`{3}|~{3}|\${2}|>|<|([-*_])[ \t]*(?:\1[ \t]*){2,}$)/;

function indentOf(line: string): number {
  const [spaces = ''] = /^[ \t]*/.exec(line) ?? [];
  return spaces.includes('\t') ? spaces.replace(/\t/g, '    ').length : spaces.length;
}

function widthOf(marker: string): number {
  if (marker.endsWith(':')) return 4;
  const bare = marker.trimEnd();
  const spaces = indentOf(marker.slice(bare.length));
  return bare.length + (spaces >= 1 && spaces <= 4 ? spaces : 1);
}

/** HTML that continues past empty lines (CommonMark 4.6, conditions 1 to 5), and its end conditions. */
const HTML: readonly [RegExp, RegExp][] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<![a-z]/i, />/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
];

/**
 * HTML that ends at the next empty line (CommonMark 4.6, conditions 6 and 7); the latter is a single tag after an empty
 * line.
 */
const HTML_BLOCK = new RegExp(
  `^ {0,3}</?(?:${(
    'address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt ' +
      'fieldset figcaption figure footer form frame frameset h[1-6] head header hr html iframe legend li link main menu ' +
      'menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul'
  ).replaceAll(' ', '|')})(?:[ \\t]|/?>|$)`,
  'i',
);
const HTML_TAG = /^ {0,3}<\/?[a-z][^<>]*>$/i;

/** Returns the end condition of the code, mathematics or HTML that a line opens; undefined if it opens none of them. */
function opensIn(line: string, wasEmpty: boolean): ((line: string) => boolean) | undefined {
  const [, marks = ''] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,}|\${2,}(?=[ \t]*$))/.exec(line) ?? [];
  if (marks !== '') {
    return (other) => {
      const closing = other.trim();
      return closing.length >= marks.length && closing === (marks[0] ?? '').repeat(closing.length);
    };
  }
  for (const [opens, ends] of HTML) {
    if (opens.test(line)) return ends.test(line) ? undefined : (other) => ends.test(other);
  }
  if (HTML_BLOCK.test(line) || (wasEmpty && HTML_TAG.test(line))) return (other) => other === '';
  return undefined;
}
