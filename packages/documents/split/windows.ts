import { BLOCK_START, listReader, quoteReader, tableReader } from './continuing-blocks.ts';
import { openBlocks } from './open-blocks.ts';

/** A range of a document, [start, end), and the text that it needs before it to keep its meaning. */
export interface Window {
  start: number;
  end: number;
  /** The head of the table whose rows the window begins with; otherwise "". */
  head: string;
}

/**
 * Splits a document into windows of at least `window` UTF-16 units that parse on their own as they do in the document.
 * A window begins where no block is open (front matter, code, mathematics, HTML), after an empty line, with a heading
 * or a letter. Or it continues the open list, table or quote.
 */
export function* windowsOf(markdown: string, window: number): Generator<Window> {
  const beginsAt = lineReader(markdown);
  let from = 0;
  let head = '';
  let wasEmpty = true;
  for (let start = 0; start < markdown.length; ) {
    const newline = markdown.indexOf('\n', start);
    const end = newline < 0 ? markdown.length : newline + 1;
    const line = markdown.slice(start, end).trimEnd();
    const begins = beginsAt(line, wasEmpty);
    if (begins !== undefined && start > 0 && start - from >= window) {
      yield { start: from, end: start, head };
      from = start;
      head = begins;
    }
    wasEmpty = line === '';
    start = end;
  }
  yield { start: from, end: markdown.length, head };
}

/**
 * Returns a function that returns for each line the text that a window starting there needs before it, mostly "";
 * undefined if no window can start there.
 */
function lineReader(markdown: string): (line: string, wasEmpty: boolean) => string | undefined {
  const isOpenBehind = openBlocks(markdown);
  const isFurtherItem = listReader();
  const headOf = tableReader();
  const isFurtherQuoted = quoteReader();
  return (line, wasEmpty) => {
    const isOpen = isOpenBehind(line, wasEmpty);
    const isItem = isFurtherItem(line, wasEmpty, isOpen);
    const head = headOf(line, wasEmpty, isOpen);
    const isQuoted = isFurtherQuoted(line, wasEmpty, isOpen);
    if (isItem || isQuoted || head !== '') return head;
    return !isOpen && wasEmpty && BLOCK_START.test(line) ? '' : undefined;
  };
}
