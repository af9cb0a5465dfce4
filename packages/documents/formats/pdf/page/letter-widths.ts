/** Widths of characters in common fonts, in font sizes; precise enough to estimate where a word of a text begins. */
const WIDTHS: readonly (readonly [characters: RegExp, width: number])[] = [
  [/[ ijl.,:;'|!()[\]ft/I-]/, 0.29],
  [/[mwMW%@—]/, 0.86],
  [/[A-Z&+<=>~]/, 0.67],
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u, 1],
];
const USUAL = 0.53;

const known = new Map<string, number>();

function widthOf(character: string): number {
  const before = known.get(character);
  if (before !== undefined) return before;
  const width = WIDTHS.find(([characters]) => characters.test(character))?.[1] ?? USUAL;
  // All languages together use fewer characters; this bounds the cache.
  if (known.size < 10_000) known.set(character, width);
  return width;
}

/** Estimates the width of a text in common fonts, in font sizes. */
function usualWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Returns the share of a text's width that its first `count` UTF-16 units take. */
export function shareBefore(text: string, count: number): number {
  const all = usualWidth(text);
  return all === 0 ? 0 : usualWidth(text.slice(0, count)) / all;
}
