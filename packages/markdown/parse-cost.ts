/**
 * Limit of the pairs in a paragraph that the parser compares, at 5 to 50 ns each: about a second. It compares closing
 * brackets and emphasis marks with all marks before them. About 6,000 marks reach the limit.
 */
const MAX_PAIRS = 40_000_000;

/**
 * Limit of the characters in a paragraph that the parser scans, at 2 to 4 ns each. It searches the rest of the
 * paragraph for the ends of link titles and tags, and for runs of as many backticks or dollar signs.
 */
const MAX_STEPS = 400_000_000;

const [NEWLINE, DOLLAR, OPENING_PARENTHESIS, LESS_THAN, CLOSING_BRACKET, BACKTICK] = [
  0x0a, 0x24, 0x28, 0x3c, 0x5d, 0x60,
];

const LOOKING_BACK = tableOf(']*_~');
const KEPT = tableOf('[]*_~!`<$');

/** Returns a table indexed by the codes of ASCII characters. */
function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** Counts of the current paragraph. */
interface Paragraph {
  length: number;
  lookingBack: number;
  kept: number;
  /** Links and tags that may be unclosed. */
  openings: number;
  /** The distinct lengths of runs of backticks, and of dollar signs (negative). */
  runs: Set<number>;
}

/**
 * A line that begins a block: a list item, a heading, a quote, a row of a table, a definition of a link or footnote.
 */
const BEGINS_BLOCK = /^[ \t]*(?:[-+*][ \t]|\d{1,9}[.)][ \t]|#{1,6}(?:[ \t]|$)|>|\||\[[^\]]{1,999}\]:)/;
const FENCE = /^[ \t]*(?:(?:[-+*>]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})/;
const IS_BLANK = /^[ \t\r]*$/;
const IS_INDENTED = /^(?: {4}| {0,3}\t)/;

/**
 * Number of characters at the start of a line that these patterns check: enough for a definition with a label of 999.
 */
const BEGINNING = 1_010;

/**
 * Tells whether a paragraph of the text would take the parser quadratic time. Reads the text once. Blocks are
 * recognized only by the beginnings of lines, and code is skipped; the CPU time limit bounds any paragraph this misses.
 */
export function hasCostlyParagraph(markdown: string): boolean {
  let paragraph = emptyParagraph();
  let fence = '';
  for (let start = 0; start < markdown.length; ) {
    const next = markdown.indexOf('\n', start);
    const end = next < 0 ? markdown.length : next;
    const beginning = markdown.slice(start, Math.min(end, start + BEGINNING));
    const marker = FENCE.exec(beginning)?.[1] ?? '';
    const isBlank = end - start < BEGINNING && IS_BLANK.test(beginning);
    const isInParagraph = paragraph.length > 0;
    if (isBlank || marker !== '' || BEGINS_BLOCK.test(beginning)) paragraph = emptyParagraph();
    if (fence !== '') {
      if (marker.startsWith(fence)) fence = '';
    } else if (marker !== '') {
      fence = marker;
    } else if (!isBlank && (isInParagraph || !IS_INDENTED.test(beginning))) {
      readLine(paragraph, markdown, start, end);
      if (isCostly(paragraph)) return true;
    }
    start = end + 1;
  }
  return false;
}

function emptyParagraph(): Paragraph {
  return { length: 0, lookingBack: 0, kept: 0, openings: 0, runs: new Set() };
}

function isCostly({ length, lookingBack, kept, openings, runs }: Paragraph): boolean {
  return lookingBack * kept > MAX_PAIRS || (openings + runs.size) * length > MAX_STEPS;
}

function readLine(paragraph: Paragraph, markdown: string, start: number, end: number): void {
  let run = 0;
  paragraph.length += end - start;
  for (let at = start; at < end; at += 1) {
    const code = markdown.charCodeAt(at);
    if (code >= 128 || KEPT[code] === 0) continue;
    paragraph.kept += 1;
    paragraph.lookingBack += LOOKING_BACK[code] ?? 0;
    const following = at + 1 < end ? markdown.charCodeAt(at + 1) : NEWLINE;
    if (code === LESS_THAN || (code === CLOSING_BRACKET && following === OPENING_PARENTHESIS)) paragraph.openings += 1;
    if (code !== BACKTICK && code !== DOLLAR) continue;
    run += 1;
    if (following === code) continue;
    paragraph.runs.add(code === DOLLAR ? -run : run);
    run = 0;
  }
}
