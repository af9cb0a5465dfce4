import remarkGfm, { type Options } from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';

/** What every extractor writes its Markdown with; options are those of remark-gfm. */
export function markdownWriter(options?: Options) {
  return unified()
    .use(remarkGfm, options)
    .use(remarkStringify, {
      bullet: '-',
      fences: true,
      rule: '-',
      // A dollar sign in a text or in HTML is one; only in Markdown it could begin mathematics.
      unsafe: [{ character: '$', inConstruct: 'phrasing' }],
    })
    .freeze();
}
