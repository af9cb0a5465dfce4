/**
 * Collects the long texts of a message. They are sent as UTF-8 after the JSON header, which refers to them by number.
 * Escaping them as JSON would take several times as long. Equal texts are sent once.
 */
export interface TextTable {
  /** Returns the number of a text. */
  add(text: string): number;
  /** Returns the length of each text in bytes, for the header. */
  sizes(): number[];
  parts: readonly Buffer[];
}

export function textTable(): TextTable {
  const numbers = new Map<string, number>();
  const parts: Buffer[] = [];
  return {
    parts,
    sizes: () => parts.map(({ length }) => length),
    add(text) {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      numbers.set(text, parts.length);
      return parts.push(Buffer.from(text)) - 1;
    },
  };
}

/**
 * Reads the texts of a body by number. Throws if the sizes do not add up to the length of the body; the returned
 * function throws for an unknown number.
 */
export function textReader(sizes: readonly number[], body: Buffer): (number: number) => string {
  const texts: (string | undefined)[] = [];
  const starts: number[] = [];
  let at = 0;
  for (const size of sizes) {
    starts.push(at);
    at += size;
  }
  if (at !== body.length) throw new Error('a message lacks texts that it declares');
  return (number) => {
    const [start, size] = [starts[number], sizes[number]];
    if (start === undefined || size === undefined)
      throw new Error('a message refers to a text that it does not contain');
    texts[number] ??= body.toString('utf8', start, start + size);
    return texts[number];
  };
}
