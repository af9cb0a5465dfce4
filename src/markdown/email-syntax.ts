import type { Construct, Extension } from 'micromark-util-types';

/** The ranges of lines that contain an @, in UTF-16 units, in order. */
type Lines = readonly (readonly [start: number, end: number])[];

let lines: Lines = [];

/**
 * GitHub's syntax tries an e-mail address at every word, which takes a quarter of the time to parse prose. This
 * extension tries only in lines with an @, with the same result. `expectEmails` sets the lines of the text that is
 * parsed next.
 */
export function limitEmailSearch({ text = {}, ...extension }: Extension): Extension {
  const guarded = (construct: Construct): Construct =>
    construct.name === 'emailAutolink' ? { ...construct, previous: isExpected(construct) } : construct;
  const entries = Object.entries(text).map(([code, construct]) => [code, [construct ?? []].flat().map(guarded)]);
  return { ...extension, text: Object.fromEntries(entries) };
}

function isExpected({ previous }: Construct): NonNullable<Construct['previous']> {
  return function (code) {
    return isInLine(this.now().offset) && (previous?.call(this, code) ?? true);
  };
}

export function expectEmails(markdown: string): void {
  const found: [number, number][] = [];
  for (let at = markdown.indexOf('@'); at >= 0; ) {
    const start = markdown.lastIndexOf('\n', at);
    const next = markdown.indexOf('\n', at);
    const end = next < 0 ? markdown.length : next;
    found.push([start, end]);
    at = markdown.indexOf('@', end);
  }
  lines = found;
}

function isInLine(offset: number): boolean {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.[1] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return offset >= (lines[low]?.[0] ?? Number.POSITIVE_INFINITY);
}
