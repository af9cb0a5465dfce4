/** Renames the heading together with the page, if the text begins with the page's title as a heading. */
export function renameHeading(markdown: string, was: string, title: string): string {
  if (title.trim() === was) return markdown;
  return markdown.replace(/^(\s*#[ \t]+)(.+?)([ \t]*#*[ \t]*\r?)$/m, (heading, mark, text, end, at) =>
    // Only at the beginning of the text or right after its front matter.
    text === was && /^(?:---\r?\n.*?\n---\r?\n)?\s*$/s.test(markdown.slice(0, at))
      ? mark + escapeMarks(title.trim()) + end
      : heading,
  );
}

/** Characters that can hold the front matter and the first heading. */
const LOOKED_AT = 20_000;
const FIRST_HEADING = /^(?:---\r?\n(?:[^\n]*\n)*?---\r?\n)?\s*#(?:[ \t]+([^\r\n]*))?(?:\r?\n|$)/;

/**
 * Returns the title that a text begins with: its first heading, after any front matter, without emphasis and code
 * marks. Returns "" if the heading is still empty, and undefined if the text begins with something else.
 */
export function titleInText(markdown: string): string | undefined {
  const found = FIRST_HEADING.exec(markdown.slice(0, LOOKED_AT));
  return found
    ? (found[1] ?? '')
        .replace(/[ \t]+#+[ \t]*$/, '')
        .replace(/\\(?=\W)|[*`]|~~/g, '')
        .trim()
    : undefined;
}

/** Escapes a text so that Markdown renders it literally. */
function escapeMarks(text: string): string {
  return text.replace(/[\\`*_[\]<>&$~|]/g, '\\$&');
}
