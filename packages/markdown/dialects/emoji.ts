/** `:name:` between words or behind another one, not within a word: `10:30:45` is a time. */
export const EMOJI = String.raw`(?:(?<![\p{L}\p{N}:])|(?<=:[a-z0-9_+-]{1,50}:)):([a-z0-9_+-]{1,50}):(?![\p{L}\p{N}])`;

let emojiOf: Readonly<Record<string, string>> | undefined;

/** Sets the names of emoji for the text that is rendered next; undefined if it has none. */
export function useEmoji(names: Readonly<Record<string, string>> | undefined): void {
  emojiOf = names;
}

/** Whether a text may have names of emoji. */
export function mayHaveEmoji(text: string): boolean {
  return emojiOf !== undefined && text.includes(':');
}

/** The emoji of a name; undefined for another word between colons. */
export function emojiNamed(name: string): string | undefined {
  return emojiOf && Object.hasOwn(emojiOf, name) ? emojiOf[name] : undefined;
}
