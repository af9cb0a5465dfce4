import { MARKER, openBlocks } from './open-blocks.ts';

/** A heading or words, which go on with nothing that was before an empty line. */
export const BEGINNING = /^(?:#{1,6}(?:[ \t]|$)|\p{L})/u;

/** Answers whether a line begins an item of a list that certainly began before. */
export function listReader(): (line: string, wasEmpty: boolean, isOpen: boolean) => boolean {
  /** What its items are marked with, a bullet or what stands behind the number; "" where nothing is sure. */
  let mark = '';
  return (line, wasEmpty, isOpen) => {
    if (isOpen || line === '') return false;
    const [marker = ''] = MARKER.exec(line) ?? [];
    const found = /^(?:\d+([.)])|([-+*]))/.exec(marker);
    const before = mark;
    mark = found?.[1] ?? found?.[2] ?? '';
    if (mark !== '' && mark === before) return true;
    // Right behind words a number begins no list.
    if (!wasEmpty) mark = '';
    return false;
  };
}

/** Answers whether a line begins something new in a quote that certainly began before. */
export function quoteReader(): (line: string, wasEmpty: boolean, isOpen: boolean) => boolean {
  /** What is open in the quote; undefined where nothing is sure. */
  let isOpenInside: ReturnType<typeof openBlocks> | undefined;
  let wasEmptyInside = true;
  return (line, wasEmpty, isOpen) => {
    if (isOpen || !line.startsWith('>')) {
      isOpenInside = undefined;
      return false;
    }
    if (wasEmpty) {
      isOpenInside = openBlocks('');
      wasEmptyInside = true;
    }
    if (!isOpenInside) return false;
    const quoted = line.replace(/^> ?/, '');
    const begins = !isOpenInside(quoted, wasEmptyInside) && !wasEmpty && wasEmptyInside && BEGINNING.test(quoted);
    wasEmptyInside = quoted.trim() === '';
    return begins;
  };
}

/** Lines that are repeated for each piece of a table or of code are no longer: so no document grows beyond measure. */
export const HEAD_MAX = 10_000;

/** Answers the head of the table that a line is a row of, if that is certain; else "". */
export function tableReader(): (line: string, wasEmpty: boolean, isOpen: boolean) => string {
  /** The line before, if it may be the first one of a table. */
  let first = '';
  let head = '';
  return (line, wasEmpty, isOpen) => {
    if (isOpen || !line.startsWith('|')) {
      first = '';
      head = '';
    } else if (wasEmpty) {
      first = line;
      head = '';
    } else if (head !== '') {
      return head;
    } else {
      const both = `${first}\n${line}\n`;
      const isHead = first !== '' && both.length <= HEAD_MAX && DELIMITERS.test(line);
      if (isHead && cellsOf(line) === cellsOf(first)) head = both;
      first = '';
    }
    return '';
  };
}

const DELIMITERS = /^\|(?:[ \t]*:?-+:?[ \t]*\|)*(?:[ \t]*:?-+:?[ \t]*)?$/;

function cellsOf(row: string): number {
  const inner = row.replace(/\\[^]/g, '').replace(/^\|/, '').replace(/\|$/, '');
  return inner.split('|').length;
}
