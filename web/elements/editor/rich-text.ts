import { toMdast } from 'hast-util-to-mdast';
import type { Root } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { toMarkdown } from 'mdast-util-to-markdown';
import { dropHidden, readBlocks } from './pasted/blocks.ts';
import { tidyLists } from './pasted/lists.ts';
import { joinMarks, readStyles } from './pasted/marks.ts';
import { splitParagraphs } from './pasted/paragraphs.ts';
import { parseInBrowser } from './pasted/parse.ts';
import { tidyTables } from './pasted/tables.ts';
import { readWord } from './pasted/word.ts';
import { handlers, tightenLists, writeRoot, writeText } from './pasted/write.ts';

/** In this order: each changes the tree that the one before it left. */
const STEPS = [dropHidden, readBlocks, readWord, readStyles, tidyLists, joinMarks, tidyTables, splitParagraphs];

/**
 * Converts copied HTML to Markdown as an author would write it: what the styles of Word, Google Docs and others mean is
 * kept, and all else of them is dropped. `test/clipboards/` has examples. The libraries are called one by one: together, as plugins of
 * `unified`, they bring a parser of Markdown, which is a quarter of the bundle.
 */
export function richToMarkdown(html: string): string {
  const tree = parseInBrowser(html);
  for (const step of STEPS) step()(tree);
  const written = toMdast(tree, { document: true, handlers }) as Root;
  tightenLists()(written);
  return toMarkdown(written, {
    bullet: '-',
    emphasis: '*',
    rule: '-',
    extensions: [gfmToMarkdown({ tablePipeAlign: false })],
    handlers: { root: writeRoot, text: writeText },
  }).trim();
}
