import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';
import { cleanWordHtml } from './word-html.ts';

/** Converts copied HTML to Markdown; styles are dropped. */
export function richToMarkdown(html: string): string {
  const written = unified()
    .use(rehypeParse)
    .use(cleanWordHtml)
    .use(rehypeRemark)
    .use(remarkGfm)
    .use(remarkStringify, { bullet: '-', emphasis: '*', rule: '-' })
    .processSync(html);
  return String(written).trim();
}
