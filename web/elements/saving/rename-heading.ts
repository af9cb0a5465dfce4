/** A page whose text begins with its title as a heading has one title: the heading is renamed with the page. */
export function renameHeading(markdown: string, was: string, title: string): string {
  if (title.trim() === was) return markdown;
  return markdown.replace(/^(\s*#[ \t]+)(.+?)([ \t]*#*[ \t]*\r?)$/m, (heading, mark, text, end, at) =>
    // Only at the text's beginning, behind what a front matter may hold.
    text === was && /^(?:---\r?\n.*?\n---\r?\n)?\s*$/s.test(markdown.slice(0, at))
      ? mark + escapeMarks(title.trim()) + end
      : heading,
  );
}

/** As much of a text as may hold its front matter and its first heading. */
const LOOKED_AT = 20_000;
const FIRST_HEADING = /^(?:---\r?\n(?:[^\n]*\n)*?---\r?\n)?\s*#(?:[ \t]+([^\r\n]*))?(?:\r?\n|$)/;

/**
 * The title that a text begins with as a heading, behind its front matter, without the marks of emphasis and code in it; "" for one
 * that is still to be written, and undefined where the text begins with something else.
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

/** A text that Markdown shows as it is. */
function escapeMarks(text: string): string {
  return text.replace(/[\\`*_[\]<>&$~|]/g, '\\$&');
}
