/** How wide characters are in usual fonts, in sizes: enough to tell where in a text a word begins. */
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
  // Of all languages there are not more characters than this in use.
  if (known.size < 10_000) known.set(character, width);
  return width;
}

/** The width of a text that is about as wide as in usual fonts, in sizes. */
function usualWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The share of its width after which a text has its first `count` UTF-16 units. */
export function shareBefore(text: string, count: number): number {
  const all = usualWidth(text);
  return all === 0 ? 0 : usualWidth(text.slice(0, count)) / all;
}
