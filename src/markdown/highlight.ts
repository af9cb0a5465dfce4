import type { ElementContent } from 'hast';
import { common, createLowlight } from 'lowlight';

/** The classes of highlighted code: highlight.js' scopes, such as `hljs-title` and `function_`. */
export const CODE_CLASS = /^(?:hljs-[a-z][a-z-]*|[a-z]+_{1,2})$/;

/**
 * Grammars are regular expressions, some of which take quadratic time for unusual input. Longer code is a file rather
 * than an example, and is not highlighted.
 */
const CODE_MAX = 10_000;

/** The limit for all highlighted code of a page, in UTF-16 units. */
const PAGE_MAX = 50_000;

let languages: ReturnType<typeof createLowlight> | undefined;

/**
 * Returns a function that highlights the code of one page. The result depends only on the code and on the code
 * highlighted before it.
 */
export function highlighter(): (language: string, code: string) => ElementContent[] {
  let left = PAGE_MAX;
  return (language, code) => {
    const plain: ElementContent[] = [{ type: 'text', value: code }];
    if (language === '' || code.length > Math.min(CODE_MAX, left)) return plain;
    // Created on first use, to save the time in processes that never highlight.
    languages ??= createLowlight(common);
    if (!languages.registered(language)) return plain;
    left -= code.length;
    return languages.highlight(language, code).children as ElementContent[];
  };
}
