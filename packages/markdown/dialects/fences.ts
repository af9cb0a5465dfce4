/** The marks of the quotes and list items around a line, and a fence behind them. */
const OPENING = /^((?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*)[ \t]*(`{3,}(?=[^`]*$)|~{3,})/;
const QUOTES = /^(?:[ \t]{0,3}>)*/;

/** Follows fenced code line by line. Lists and HTML can only be told by parsing, so that a fence may be one too many. */
export class Fences {
  private fence = '';
  private quotes = 0;

  /** Whether a line is a fence or inside of one. */
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
