import type { ElementContent } from 'hast';
import type { LanguageFn } from 'lowlight';
import { common, createLowlight } from 'lowlight';

/** The classes of highlighted code: highlight.js' scopes, such as `hljs-built_in` and `function_`. */
export const CODE_CLASS = /^(?:hljs-[a-z][a-z_-]*|[a-z]+_{1,2})$/;

/**
 * Grammars are regular expressions, and some take quadratic time for unusual input. Longer code is a file rather than
 * an example, and is not highlighted.
 */
const CODE_MAX = 10_000;

/** The limit for all highlighted code of a page, in UTF-16 units. */
const PAGE_MAX = 50_000;

type Languages = ReturnType<typeof createLowlight>;

// Created on first use, to save the time in processes that never highlight.
let commonLanguages: Languages | undefined;
let allLanguages: Languages | undefined;
let usesAll = false;

/** Tells whether the grammar of a language is always loaded. */
export function isCommon(language: string): boolean {
  commonLanguages ??= createLowlight(common);
  return commonLanguages.registered(language);
}

/** Sets the grammars for the next text to render: all of them, or the common ones. */
export function useLanguages(all: Readonly<Record<string, LanguageFn>> | undefined): void {
  usesAll = all !== undefined;
  if (all) allLanguages ??= createLowlight(all);
}

/**
 * Returns a function that highlights the code of one page. The result depends only on the code, on the code highlighted
 * before it and on `useLanguages`.
 */
export function highlighter(): (language: string, code: string) => ElementContent[] {
  let left = PAGE_MAX;
  return (language, code) => {
    const plain: ElementContent[] = [{ type: 'text', value: code }];
    if (language === '' || code.length > Math.min(CODE_MAX, left)) return plain;
    const known = isCommon(language) ? commonLanguages : usesAll ? allLanguages : undefined;
    if (!known?.registered(language)) return plain;
    left -= code.length;
    return known.highlight(language, code).children as ElementContent[];
  };
}
