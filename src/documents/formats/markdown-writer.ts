import remarkGfm, { type Options } from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';

/** The Markdown serializer of all extractors; the options are those of remark-gfm. */
export function markdownWriter(options?: Options) {
  return unified()
    .use(remarkGfm, options)
    .use(remarkStringify, {
      bullet: '-',
      fences: true,
      rule: '-',
      // A dollar sign in text or HTML is literal; in Markdown it could start mathematics.
      unsafe: [{ character: '$', inConstruct: 'phrasing' }],
    })
    .freeze();
}
