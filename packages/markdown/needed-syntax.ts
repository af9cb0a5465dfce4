import type { Construct, Extension } from 'micromark-util-types';

/** Chinese, Japanese and Korean letters and signs, which are written without spaces in between. */
const CJK = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u3000-\u303f\uff00-\uffef]`;

/**
 * The pattern that a text must match for a construct to begin in it, by the name of the construct. Character references
 * do not count: the parser decodes them afterwards.
 */
const NEEDS: Record<string, RegExp> = {
  emailAutolink: /@/,
  wwwAutolink: /www\./i,
  protocolAutolink: /https?:\/\//i,
  strikethrough: /~/,
  tasklistCheck: /\[[\sx]\]/i,
  gfmFootnoteDefinition: /\[\^/,
  gfmFootnoteCall: /\[\^/,
  gfmPotentialFootnoteCall: /\[\^/,
  table: /^[ \t>]*(?=[|:-])(?=[|: \t-]*[|:])(?=[|: \t]*-)[|: \t-]*$/m,
  mathText: /\$/,
  mathFlow: /\$\$[ \t]*$/m,
  wikiLink: /\[\[/,
  cjkEmphasis: new RegExp(`[*_]${CJK}|${CJK}[*_]`, 'u'),
  mathBackslash: /\\[([]/,
};

/**
 * Returns the names of the constructs that a text may contain. Leaving out all others does not change the result of
 * parsing it.
 */
export function neededSyntax(markdown: string): ReadonlySet<string> {
  return new Set(Object.keys(NEEDS).filter((name) => NEEDS[name]?.test(markdown)));
}

/** The places in the current text where constructs may begin. */
let places = placesIn('', new Set(), new Set());

interface Places {
  /** The ranges of lines that contain an @, in UTF-16 units, in order. */
  emails: readonly (readonly [start: number, end: number])[];
  addresses: ReadonlySet<number>;
  /** The numbers of the lines of tables. */
  tables: ReadonlySet<number>;
  /** The numbers of the lines that begin closed formulas. */
  formulas: ReadonlySet<number>;
}

/**
 * Sets the text to parse next. By default, GitHub's syntax tries addresses at each word and a table at each line, which
 * takes half of the time to parse prose.
 */
export function expectSyntax(markdown: string, needed: ReadonlySet<string>, formulas: ReadonlySet<number>): void {
  places = placesIn(markdown, needed, formulas);
}

/**
 * Removes unneeded constructs from an extension and tries the others only where they can begin. This does not change
 * the result of parsing.
 */
export function onlyNeeded(extension: Extension, needed: ReadonlySet<string>): Extension {
  const { insideSpan, attentionMarkers, ...records } = extension;
  const kept: Extension = needed.has('strikethrough') ? { insideSpan, attentionMarkers } : {};
  for (const [content, record] of Object.entries(records)) {
    const entries = Object.entries(record as Record<string, Construct | Construct[]>).flatMap(([code, constructs]) => {
      const left = [constructs].flat().filter(({ name = '' }) => needed.has(name));
      return left.length === 0 ? [] : [[code, left.map(guarded)]];
    });
    Object.assign(kept, { [content]: Object.fromEntries(entries) });
  }
  return kept;
}

function guarded(construct: Construct): Construct {
  const { name, previous, tokenize } = construct;
  if (name === 'emailAutolink' || name === 'wwwAutolink' || name === 'protocolAutolink') {
    const isExpected = name === 'emailAutolink' ? isInEmailLine : (offset: number) => places.addresses.has(offset);
    return {
      ...construct,
      previous(code) {
        return (previous?.call(this, code) ?? true) && isExpected(this.now().offset);
      },
    };
  }
  if (name !== 'table' && name !== 'mathFlow') return construct;
  const lines = name === 'table' ? () => places.tables : () => places.formulas;
  return {
    ...construct,
    tokenize(effects, ok, nok) {
      return lines().has(this.now().line) ? tokenize.call(this, effects, ok, nok) : nok;
    },
  };
}

function placesIn(markdown: string, needed: ReadonlySet<string>, formulas: ReadonlySet<number>): Places {
  // The parser does not count a byte order mark.
  const skipped = markdown.startsWith('\ufeff') ? 1 : 0;
  const addresses = new Set<number>();
  if (needed.has('wwwAutolink') || needed.has('protocolAutolink')) {
    for (const { index } of markdown.matchAll(/https?:\/\/|www\./gi)) addresses.add(index - skipped);
  }
  return {
    emails: needed.has('emailAutolink') ? linesWithAt(markdown, skipped) : [],
    addresses,
    tables: needed.has('table') ? linesOfTables(markdown) : new Set(),
    formulas,
  };
}

function linesWithAt(markdown: string, skipped: number): [number, number][] {
  const found: [number, number][] = [];
  for (let at = markdown.indexOf('@'); at >= 0; ) {
    const start = markdown.lastIndexOf('\n', at);
    const next = markdown.indexOf('\n', at);
    const end = next < 0 ? markdown.length : next;
    found.push([start - skipped, end - skipped]);
    at = markdown.indexOf('@', end);
  }
  return found;
}

function isInEmailLine(offset: number): boolean {
  const { emails } = places;
  let [low, high] = [0, emails.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((emails[middle]?.[1] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return offset >= (emails[low]?.[0] ?? Number.POSITIVE_INFINITY);
}

/**
 * Returns the lines of possible tables: the line before a delimiter row, the row, and the lines after it up to an empty
 * line.
 */
function linesOfTables(markdown: string): Set<number> {
  const isDelimiter = NEEDS.table ?? /$^/;
  const lines = markdown.split(/\r\n|\r|\n/);
  const found = new Set<number>();
  let isTable = false;
  for (const [i, line] of lines.entries()) {
    if (isDelimiter.test(line)) isTable = true;
    else if (/^[ \t>]*$/.test(line)) isTable = false;
    // Lines are counted from 1, so `i` is the number of the previous line.
    if (!isTable) continue;
    found.add(i);
    found.add(i + 1);
  }
  return found;
}
