/** `:name:` between words or after another emoji, not within a word: `10:30:45` is a time. */
export const EMOJI = String.raw`(?:(?<![\p{L}\p{N}:])|(?<=:[a-z0-9_+-]{1,50}:)):([a-z0-9_+-]{1,50}):(?![\p{L}\p{N}])`;

let emojiOf: Readonly<Record<string, string>> | undefined;

/** Sets the names of emoji for the next text to render; undefined if the text uses no emoji. */
export function useEmoji(names: Readonly<Record<string, string>> | undefined): void {
  emojiOf = names;
}

export function mayHaveEmoji(text: string): boolean {
  return emojiOf !== undefined && text.includes(':');
}

/** Returns the emoji of a name; undefined for other words between colons. */
export function emojiNamed(name: string): string | undefined {
  return emojiOf && Object.hasOwn(emojiOf, name) ? emojiOf[name] : undefined;
}
