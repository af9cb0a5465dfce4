import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';
import { dropHidden, readBlocks } from './pasted/blocks.ts';
import { tidyLists } from './pasted/lists.ts';
import { joinMarks, readStyles } from './pasted/marks.ts';
import { splitParagraphs } from './pasted/paragraphs.ts';
import { parseInBrowser } from './pasted/parse.ts';
import { tidyTables } from './pasted/tables.ts';
import { readWord } from './pasted/word.ts';
import { handlers, tightenLists, writeRoot, writeText } from './pasted/write.ts';

/**
 * Converts copied HTML to Markdown as an author would write it: what the styles of Word, Google Docs and others mean is
 * kept, and all else of them is dropped. `test/clipboards/` has examples.
 */
export function richToMarkdown(html: string): string {
  const written = unified()
    .use(parseInBrowser)
    .use(dropHidden)
    .use(readBlocks)
    .use(readWord)
    .use(readStyles)
    .use(tidyLists)
    .use(joinMarks)
    .use(tidyTables)
    .use(splitParagraphs)
    .use(rehypeRemark, { handlers })
    .use(tightenLists)
    .use(remarkGfm, { tablePipeAlign: false })
    .use(remarkStringify, { bullet: '-', emphasis: '*', rule: '-', handlers: { root: writeRoot, text: writeText } })
    .processSync(html);
  return String(written).trim();
}
