import { BEGINNING, listReader, quoteReader, tableReader } from './continuing-blocks.ts';
import { openBlocks } from './open-blocks.ts';

/** A part of a document: [start, end), and what of it has to stand before that part so that it means what it means there. */
export interface Window {
  start: number;
  end: number;
  /** The head of the table whose rows it begins with; else "". */
  head: string;
}

/**
 * Pieces of a document, each at least as long as `window`, that mean by themselves what they mean in it: each begins where
 * nothing is open that could go on (front matter, code, mathematics, HTML), behind an empty line with a heading or a letter
 * at the beginning of its line, or goes on with the list, the table or the quote that was open.
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
 * Answers for one line after the other what a window that begins there needs before it, mostly ""; undefined where none can
 * begin.
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
    return !isOpen && wasEmpty && BEGINNING.test(line) ? '' : undefined;
  };
}
