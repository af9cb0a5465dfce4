/** Directives of MyST and Sphinx whose argument is the language: "```{code-block} python". */
const DIRECTIVE = /^\{(?:code|code-block|code-cell|sourcecode|literalinclude)\}\s*([^\s{]*)/i;
/** The first class or word in braces: `{ .yaml .x }`, `{.haskell}`, `{r, echo=FALSE}`, `{python}`. */
const IN_BRACES = /^\{\s*\.?([a-z][^\s,.{}=]*)(?!=)/i;
/** Options that follow a language without a space: `rust,ignore`, `js{1,3}`, `js=101`, `ts:src/a.ts`. */
const BEHIND = /[,{=:].*$/s;

/**
 * Returns the language of fenced code in lower case, or "". `info` is the text after the fence; options for other
 * programs are dropped.
 */
export function languageOf(info: string): string {
  const text = info.trim();
  const name = text.startsWith('{')
    ? (DIRECTIVE.exec(text)?.[1] ?? IN_BRACES.exec(text)?.[1])
    : text.split(/\s/, 1)[0]?.replace(BEHIND, '');
  return (name ?? '').toLowerCase();
}
