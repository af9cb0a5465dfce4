import { DEPTH_MAX, PATHS_MAX, type ReadOrder } from './read-order.ts';

/** Longer lines are treated as text. */
const LINE_MAX = 2_000;

/**
 * A line that is a single link: its address is in <> or without spaces, or missing (a chapter that is still to be
 * written).
 */
const LINK =
  /^\[(?:[^[\]\\]|\\.|\[[^[\]]*\])*\]\(\s*(?:<([^<>]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)$/;
const ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/;
/** Headings, rules and one-line comments may separate the links. */
const BETWEEN = /^(?:#{1,6}(?:[ \t].*)?|-{3,}|\*{3,}|_{3,}|<!--.*-->)$/;

/**
 * Reads `SUMMARY.md` (GitBook, mdBook) and `_sidebar.md` (docsify): nested lists of links under headings. A file that
 * also contains other text is an ordinary page. It is read line by line, because parsing Markdown has no time limit
 * here.
 */
export function linkList(text: string): ReadOrder {
  const paths: string[] = [];
  /** The depth of an item without a link, which is the heading of the items below it; -1 otherwise. */
  let group = -1;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '' || (group < 0 && BETWEEN.test(trimmed))) continue;
    if (line.length > LINE_MAX || paths.length >= PATHS_MAX) return 'not_order';
    const [, indent = '', item] = ITEM.exec(line) ?? [];
    const depth = indent.replaceAll('\t', '    ').length;
    if (depth > DEPTH_MAX * 8 || (group >= 0 && depth <= group)) return 'not_order';
    group = -1;
    const link = LINK.exec((item ?? line).trim());
    if (link) paths.push(link[1] ?? link[2] ?? '');
    else if (item !== undefined) group = depth;
    else return 'not_order';
  }
  return paths.some((path) => path !== '') && group < 0 ? { paths } : 'not_order';
}
