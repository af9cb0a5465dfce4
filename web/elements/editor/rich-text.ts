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

/** The order matters: each pass changes the tree that the previous pass produced. */
const STEPS = [dropHidden, readBlocks, readWord, readStyles, tidyLists, joinMarks, tidyTables, splitParagraphs];

/**
 * Converts copied HTML to Markdown as an author would write it: keeps the meaning of the styles of Word, Google Docs
 * and others, and drops the rest. `test/clipboards/` has examples. The libraries are called one by one: as plugins of
 * `unified` they would include a Markdown parser, which is a quarter of the bundle.
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
