/** The markers of the quotes and list items around a line, followed by a fence. */
const OPENING = /^((?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*)[ \t]*(`{3,}(?=[^`]*$)|~{3,})/;
const QUOTES = /^(?:[ \t]{0,3}>)*/;

/**
 * Tracks fenced code line by line. Lists and HTML can only be recognized by the parser, so some of the fences found may
 * not be real.
 */
export class Fences {
  private fence = '';
  private quotes = 0;

  /** Tells whether a line is a fence or inside a fence. Lines must be passed in order. */
  takes(line: string): boolean {
    if (this.fence !== '') {
      const [quotes = ''] = this.quotes > 0 ? (QUOTES.exec(line) ?? []) : [];
      if (quotesIn(quotes) >= this.quotes) {
        const marker = line.slice(quotes.length).trim();
        if (marker.startsWith(this.fence) && marker === this.fence.charAt(0).repeat(marker.length)) this.fence = '';
        return true;
      }
      // Fenced code ends with its quote.
      this.fence = '';
    }
    const [, before = '', fence] = OPENING.exec(line) ?? [];
    if (fence === undefined) return false;
    this.fence = fence;
    this.quotes = quotesIn(before);
    return true;
  }
}

function quotesIn(text: string): number {
  let count = 0;
  for (const letter of text) if (letter === '>') count += 1;
  return count;
}
