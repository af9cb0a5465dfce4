import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';

/** What was copied from a page or a document, as Markdown; how it looked is left behind. */
export function richToMarkdown(html: string): string {
  const written = unified()
    .use(rehypeParse)
    .use(rehypeRemark)
    .use(remarkGfm)
    .use(remarkStringify, { bullet: '-', emphasis: '*', rule: '-' })
    .processSync(html);
  return String(written).trim();
}
