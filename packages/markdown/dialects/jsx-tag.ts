/** Longer tags are treated as text. */
export const TAG_MAX = 2_000;

/**
 * Finds the end of a JSX tag, which may contain `>` in quotes and in braces. Returns undefined if the tag is not
 * closed.
 */
export function tagEnd(text: string, from: number): { end: number; isEmpty: boolean; hasBraces: boolean } | undefined {
  let depth = 0;
  let quote = '';
  let hasBraces = false;
  for (let at = from; at < Math.min(text.length, from + TAG_MAX); at += 1) {
    const letter = text.charAt(at);
    if (quote !== '') {
      if (letter === quote) quote = '';
    } else if (letter === '"' || (letter === "'" && depth === 0)) quote = letter;
    else if (letter === '{') {
      depth += 1;
      hasBraces = true;
    } else if (letter === '}') depth -= 1;
    else if (letter === '<' && depth === 0) return undefined;
    else if (letter === '>' && depth <= 0) return { end: at + 1, isEmpty: text.charAt(at - 1) === '/', hasBraces };
  }
  return undefined;
}
