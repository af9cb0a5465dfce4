import { MARKER, openBlocks } from './open-blocks.ts';

/** A heading or words: never a continuation after an empty line. */
export const BLOCK_START = /^(?:#{1,6}(?:[ \t]|$)|\p{L})/u;

/** Returns a function that tells whether a line begins an item of a list that certainly began before. */
export function listReader(): (line: string, wasEmpty: boolean, isOpen: boolean) => boolean {
  /** The bullet, or the delimiter after the number; "" if unknown. */
  let mark = '';
  return (line, wasEmpty, isOpen) => {
    if (isOpen || line === '') return false;
    const [marker = ''] = MARKER.exec(line) ?? [];
    const found = /^(?:\d+([.)])|([-+*]))/.exec(marker);
    const before = mark;
    mark = found?.[1] ?? found?.[2] ?? '';
    if (mark !== '' && mark === before) return true;
    // A number right after words does not start a list.
    if (!wasEmpty) mark = '';
    return false;
  };
}

/** Returns a function that tells whether a line begins a new block in a quote that certainly began before. */
export function quoteReader(): (line: string, wasEmpty: boolean, isOpen: boolean) => boolean {
  /** The open blocks in the quote; undefined if unknown. */
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
    const begins = !isOpenInside(quoted, wasEmptyInside) && !wasEmpty && wasEmptyInside && BLOCK_START.test(quoted);
    wasEmptyInside = quoted.trim() === '';
    return begins;
  };
}

/**
 * The limit of characters repeated in each piece of a table or of code, so that splitting does not multiply the size of
 * a document.
 */
export const MAX_REPEATED_LENGTH = 10_000;

/**
 * Returns a function that returns the head of the table to which a line certainly belongs as a row; "" for other lines.
 */
export function tableReader(): (line: string, wasEmpty: boolean, isOpen: boolean) => string {
  /** The previous line, if it may be the header row of a table. */
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
      const isHead = first !== '' && both.length <= MAX_REPEATED_LENGTH && DELIMITERS.test(line);
      if (isHead && cellsOf(line) === cellsOf(first)) head = both;
      first = '';
    }
    return '';
  };
}

const DELIMITERS = /^\|(?:[ \t]*:?-+:?[ \t]*\|)*(?:[ \t]*:?-+:?[ \t]*)?$/;

function cellsOf(row: string): number {
  const inner = row
    .replace(/\\[\s\S]/g, '')
    .replace(/^\|/, '')
    .replace(/\|$/, '');
  return inner.split('|').length;
}
