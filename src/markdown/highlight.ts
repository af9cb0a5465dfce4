import type { ElementContent } from 'hast';
import { common, createLowlight } from 'lowlight';

/** The classes of highlighted code: highlight.js' scopes, such as `hljs-title` and `function_`. */
export const CODE_CLASS = /^(?:hljs-[a-z][a-z-]*|[a-z]+_{1,2})$/;

/**
 * Grammars are regular expressions, some of which take the square of a text's length for what no program says. What is
 * longer than a screen or thirty is read as a file, not as an example, and is shown without colours.
 */
const CODE_MAX = 10_000;

/** All the code of a page that is highlighted, in UTF-16 units. */
const PAGE_MAX = 50_000;

let languages: ReturnType<typeof createLowlight> | undefined;

/** Highlights the code of one page. What it answers depends on the code and what was highlighted before it alone. */
export function highlighter(): (language: string, code: string) => ElementContent[] {
  let left = PAGE_MAX;
  return (language, code) => {
    const plain: ElementContent[] = [{ type: 'text', value: code }];
    if (language === '' || code.length > Math.min(CODE_MAX, left)) return plain;
    // Made with the first code that names its language, so that a process that never sees any is spared it.
    languages ??= createLowlight(common);
    if (!languages.registered(language)) return plain;
    left -= code.length;
    return languages.highlight(language, code).children as ElementContent[];
  };
}
